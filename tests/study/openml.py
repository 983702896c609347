"""openml.org without a network: a data set as scikit-learn keeps it, and one that is out of reach."""

import gzip
import hashlib
import json
from urllib.error import URLError


def recorded(home, monkeypatch, number, frame):
    """Store an answer of openml.org in scikit-learn's cache; frame has a number x and a label "class", bad or
    good.
    """
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))
    features = [
        {
            "index": str(i),
            "name": name,
            "data_type": "nominal" if name == "class" else "numeric",
            "is_target": target,
        }
        | {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        for i, (name, target) in enumerate([("x", "false"), ("class", "true")])
    ]
    arff = "@RELATION made\n@ATTRIBUTE x NUMERIC\n@ATTRIBUTE class {bad,good}\n@DATA\n"
    arff += "\n".join(f"{x},{label}" for x, label in frame.itertuples(index=False)) + "\n"
    url = "https://www.openml.org/data/v1/download/1/made.arff"
    about = {
        "id": str(number),
        "name": "made",
        "description": "made",
        "version": "1",
        "format": "ARFF",
        "file_id": "1",
        "url": url,
    }
    md5 = hashlib.md5(arff.encode()).hexdigest()
    about |= {"default_target_attribute": "class", "status": "active", "licence": "CC0", "md5_checksum": md5}
    answers = {
        f"api/v1/json/data/{number}": json.dumps({"data_set_description": about}),
        f"api/v1/json/data/features/{number}": json.dumps({"data_features": {"feature": features}}),
        f"api/v1/json/data/qualities/{number}": json.dumps(
            {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(len(frame))}]}}
        ),
        "data/v1/download/1/made.arff": arff,
    }
    for path, text in answers.items():
        place = home / "openml" / "openml.org" / f"{path}.gz"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(text.encode()))


def unreachable(home, monkeypatch):
    """Simulate a missing network and an empty cache."""

    def refused(*args, **more):
        raise URLError("Network is unreachable")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refused)
