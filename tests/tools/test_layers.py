"""tools/check-layers: who includes whom."""
import importlib.machinery
import importlib.util
import pathlib

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check-layers"


@pytest.fixture
def layers():
    loader = importlib.machinery.SourceFileLoader("check_layers", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    module.LAYERS = "top | a | api low\nmiddle | b | low\napi | c |\nlow low/part | d |\n"
    return module


@pytest.fixture
def faults(layers, tmp_path):
    def check(files=None):
        tree = {"top/a.c": '#include "low/a.h"\n#include "wasmsand.h"\n',
                "middle/a.c": '#include "low/part/a.h"\n'}
        for name, text in (tree | (files or {})).items():
            path = tmp_path / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(layers.faults(tmp_path))
    return check


def test_includes_of_the_list_pass(faults):
    assert faults() == []


def test_an_include_that_the_list_does_not_name_is_refused(faults):
    assert faults(files={"low/b.c": '#include "top/a.h"\n'}) == \
        ["src/low/b.c: low may not know top"]


def test_the_public_header_is_seen(faults):
    assert faults(files={"low/b.c": '#include "wasmsand.h"\n'}) == \
        ["src/low/b.c: low may not know api"]


def test_the_folders_of_a_layer_know_each_other(faults):
    assert faults(files={"low/b.c": '#include "low/part/b.h"\n'}) == []


def test_a_name_that_no_file_uses_is_refused(faults):
    assert faults(files={"middle/a.c": ""}) == \
        ["middle may know low, but no file includes it"]


def test_a_row_names_only_rows_below(layers, faults):
    layers.LAYERS = layers.LAYERS.replace("middle | b | low", "middle | b | low top")
    assert faults(files={"middle/b.c": '#include "top/a.h"\n'}) == \
        ["middle may not know top: the row of that is not below"]


def test_a_folder_without_a_row_is_refused(faults):
    assert faults(files={"new/a.c": ""}) == ["src/new/a.c: new is not in the list of layers"]


def test_only_the_engine_knows_the_engine(faults):
    assert faults(files={"low/b.c": "#include <wasmtime.h>\n"}) == \
        ["src/low/b.c: only engine may know the engine"]


def test_headers_of_one_layer_may_not_include_each_other_in_a_circle(faults, layers, tmp_path):
    faults(files={"low/a.h": '#include "low/b.h"\n#include "low/d.h"\n',
                  "low/b.h": '#include "low/part/c.h"\n',
                  "low/part/c.h": '#include <stdint.h>\n#include "low/a.h"\n',
                  "low/d.h": ""})
    assert list(layers.cycles(tmp_path)) == [
        "include cycle: low/a.h > low/b.h > low/part/c.h > low/a.h"]


def test_headers_that_two_others_include_are_no_circle(faults, layers, tmp_path):
    faults(files={"low/a.h": '#include "low/b.h"\n#include "low/c.h"\n',
                  "low/b.h": '#include "low/d.h"\n', "low/c.h": '#include "low/d.h"\n',
                  "low/d.h": ""})
    assert list(layers.cycles(tmp_path)) == []


def test_the_diagram_has_all_rows(layers):
    assert layers.diagram().splitlines()[-1] == "low, low/part        d"
