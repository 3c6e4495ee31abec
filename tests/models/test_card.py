from fabula.models.file import card_lines


def test_says_what_it_takes_and_how_it_did(make_model):
    model = make_model(2)
    model.training["settings"] = {"batch": 256}
    model.card = {"bits": {"bilstm": 0.25123456, "controls": [0.001, -0.002]}, "albums": 1861}
    lines = dict(card_lines(model))
    assert lines["features"] == "f0, f1, f2, f3, f4 (logarithm of f0)"
    assert lines["dimensions"] == "2"
    assert lines["scorers"] == "bilstm, arcs"
    assert lines["numbers inside"] == f"{sum(t.size for t in model.tensors.values()):,}"
    assert lines["training, preset"] == "test"
    assert not any("settings" in label for label in lines)
    assert lines["bits, bilstm"] == "0.2512"
    assert lines["bits, controls"] == "0.001, -0.002"
    assert lines["albums"] == "1861"
