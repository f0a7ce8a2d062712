"""The backend of matplotlib in the runner of cells: Agg, with a show() that displays."""
from matplotlib.backend_bases import FigureManagerBase as FigureManager  # noqa: F401
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas  # noqa: F401

from wasmsand.display import show_figures


def show(*args, **kwargs):
    show_figures()
