"""Rich results, in the style of IPython: an object offers its own representations.

display(obj) shows an object in every form that it offers: text, HTML, Markdown, SVG, PNG,
JPEG, PDF, LaTeX, JSON. An object offers a form by a method such as _repr_html_(), or all of
them by _repr_mimebundle_(). Outside of the runner of cells, display prints the text.
"""
import base64
import json
import pprint

METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "application/pdf": "_repr_pdf_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
}
WIDTH = 79
BYTES_MAX = 4 << 20  # of one representation

_sink = None  # the runner's function for bundles
_formats = ("png",)


# --- objects to their representations


def _text(obj):
    """The repr; that of a long list, dict, tuple or set has several lines."""
    text = repr(obj)
    if len(text) > WIDTH and type(obj) in (list, dict, tuple, set, frozenset):
        text = pprint.pformat(obj, width=WIDTH, sort_dicts=False)
    return text


def _call(obj, name, **arguments):
    """The result of a method of the object's class, or None. An object whose method fails
    does not have that representation; its text remains."""
    method = getattr(type(obj), name, None)
    if method is None or isinstance(obj, type):
        return None
    try:
        result = method(obj, **arguments)
    except Exception:
        return None
    return result[0] if isinstance(result, tuple) and result else result


def _encode(value):
    """A value as JSON can have it: text as it is, bytes in base64, otherwise an object.
    None: it has no such form, or is too large."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = base64.b64encode(value).decode("ascii")
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode("utf-8")
        return value if len(value) <= BYTES_MAX else None
    try:
        return value if len(json.dumps(value, allow_nan=False)) <= BYTES_MAX else None
    except (TypeError, ValueError, RecursionError):
        return None


def bundle(obj):
    """The representations of an object by MIME type."""
    found = {"text/plain": _text(obj)}
    for mime, name in METHODS.items():
        found[mime] = _call(obj, name)
    offered = _call(obj, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(offered, dict):
        found.update((str(mime), value) for mime, value in offered.items())
    found.update(_figure(obj))
    result = {mime: _encode(value) for mime, value in found.items() if value is not None}
    result = {mime: value for mime, value in result.items() if value is not None}
    if "text/plain" not in result:
        result["text/plain"] = f"{found['text/plain'][:WIDTH]}... (too long to display)"
    return result


def display(*objects):
    """Shows objects in all forms that they offer."""
    for obj in objects:
        found = bundle(obj)
        if _sink:
            _sink(found)
        else:
            print(found["text/plain"])


class _Form:
    """Data in one form."""

    def __init__(self, data):
        self.data = data

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data}


class HTML(_Form):
    mime = "text/html"


class Markdown(_Form):
    mime = "text/markdown"


class Latex(_Form):
    mime = "text/latex"


class SVG(_Form):
    mime = "image/svg+xml"


class PNG(_Form):
    mime = "image/png"


class JSON(_Form):
    mime = "application/json"


# --- figures of matplotlib


def set_figure_formats(*formats):
    """The image formats of figures: "png" (the default), "svg", "pdf", "jpeg"."""
    global _formats
    known = {"png", "svg", "pdf", "jpeg"}
    if not formats or not known.issuperset(formats):
        raise ValueError(f"formats of figures are {', '.join(sorted(known))}")
    _formats = formats


def _plain(values):
    """The values of a NumPy array, a Series or a list as JSON can have them."""
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    return [value if isinstance(value, (int, float)) else str(value) for value in values]


def _label(artist):
    """The label that a legend would show, or None."""
    label = str(artist.get_label())
    return None if label.startswith("_") else label


def _elements(axes):
    """The lines, bars and points of axes, with their data."""
    for line in axes.lines:
        points = list(zip(_plain(line.get_xdata()), _plain(line.get_ydata())))
        yield {"type": "line", "label": _label(line), "points": points}
    for bars in axes.containers:
        points = [(bar.get_x() + bar.get_width() / 2, bar.get_height())
                  for bar in bars if hasattr(bar, "get_height")]
        yield {"type": "bar", "label": _label(bars), "points": _plain_pairs(points)}
    for points in axes.collections:
        if hasattr(points, "get_offsets"):
            yield {"type": "scatter", "label": _label(points),
                   "points": _plain_pairs(points.get_offsets())}


def _plain_pairs(pairs):
    return [tuple(_plain(pair)) for pair in pairs]


def _chart(figure):
    """The data of a figure: titles, labels, and the elements of its axes."""
    return {"axes": [{"title": axes.get_title(), "xLabel": axes.get_xlabel(),
                      "yLabel": axes.get_ylabel(), "elements": list(_elements(axes))}
                     for axes in figure.axes]}


def _image(figure, form):
    import io
    file = io.BytesIO()
    figure.savefig(file, format=form, bbox_inches="tight")
    return file.getvalue()


def _figure(obj):
    """The representations of a figure of matplotlib; nothing for other objects."""
    import sys
    module = sys.modules.get("matplotlib.figure")
    if module is None or not isinstance(obj, module.Figure):
        return {}
    mimes = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf",
             "jpeg": "image/jpeg"}
    found = {}
    for form in _formats:
        image = _image(obj, form)
        found[mimes[form]] = image.decode() if form == "svg" else image
    try:
        found["application/vnd.wasmsand.chart+json"] = _chart(obj)
    except Exception:  # an artist of another kind; the image shows it
        pass
    return found


def show_figures():
    """Displays the figures that are open, in their order, and closes them."""
    import sys
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        figure = pyplot.figure(number)
        pyplot.close(figure)
        display(figure)
