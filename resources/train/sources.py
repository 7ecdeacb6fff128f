"""Every text source of the corpus, with its exact version and licence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One package that contributes documents.

    ``channel`` is ``pip``, ``apt`` or ``generated``; ``kind`` is the corpus kind (``code``,
    ``json`` or ``prose``); ``licence`` is an SPDX expression or an exact description;
    ``cap_bytes`` bounds how much text the source may contribute.
    """

    name: str
    version: str
    channel: str
    kind: str
    licence: str
    cap_bytes: int = 1_000_000


_PIP = """
CherryPy 18.10.0 BSD-3-Clause
aiohttp 3.14.5 Apache-2.0 AND MIT
alembic 1.20.1 MIT
algorithms 1.0.1 MIT
anyio 4.16.0 MIT
arrow 1.4.0 Apache-2.0
astropy 8.0.2 BSD-3-Clause
attrs 26.1.0 MIT
babel 2.19.0 BSD-3-Clause
black 26.10.1 MIT
bokeh 3.9.2 BSD-3-Clause
boltons 26.2.0 BSD-3-Clause
celery 5.7.0 BSD-3-Clause
cheroot 11.1.2 BSD-3-Clause
click 8.5.1 BSD-3-Clause
coverage 7.17.5 Apache-2.0
dask 2026.8.0 BSD-3-Clause
django 5.2.19 BSD-3-Clause
docker 7.2.0 Apache-2.0
falcon 4.4.0 Apache-2.0
fastapi 0.165.0 MIT
flask 3.1.3 BSD-3-Clause
geopandas 1.2.0 BSD-3-Clause
gunicorn 27.0.1 MIT
httpx 0.28.1 BSD-3-Clause
invoke 3.0.3 BSD-2-Clause
ipython 9.18.1 BSD-3-Clause
isort 9.0.2 MIT
jedi 0.20.1 MIT
jinja2 3.1.6 BSD-3-Clause
joblib 1.6.0 BSD-3-Clause
lark 1.3.1 MIT
luigi 3.8.1 Apache-2.0
marshmallow 4.4.0 MIT
matplotlib 3.11.2 LicenseRef-Matplotlib (PSF-based)
more_itertools 11.2.1 MIT
mpmath 1.4.1 BSD-3-Clause
mypy 2.4.1 MIT
networkx 3.6.1 BSD-3-Clause
nltk 3.10.4 Apache-2.0
nox 2026.10.20 Apache-2.0
numba 0.68.1 BSD-2-Clause
numpy 2.4.6 BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0
packaging 26.4 Apache-2.0 OR BSD-2-Clause
pandas 3.1.1 BSD-3-Clause
parso 0.8.7 MIT
peewee 4.5.3 MIT
pillow 13.0.0 MIT-CMU
pip 26.3 MIT
poetry 2.5.1 MIT
prompt_toolkit 3.0.53 BSD-3-Clause
pycodestyle 2.15.0 MIT
pycparser 3.12 BSD-3-Clause
pydantic 2.14.4 MIT
pygments 2.21.0 BSD-2-Clause
pygorithm 1.0.4 MIT
pymongo 4.20.1 Apache-2.0
pyparsing 3.3.3 MIT
pytest 9.2.0 MIT
python_dateutil 4.0.0 BSD-3-Clause
redis 8.1.0 MIT
requests 2.34.2 Apache-2.0
rich 15.0.0 MIT
sanic 25.12.1 MIT
scikit_image 0.26.0 BSD-3-Clause
scikit_learn 1.9.1 BSD-3-Clause
scipy 1.17.1 BSD-3-Clause
scrapy 2.19.0 BSD-3-Clause
seaborn 0.13.2 BSD-3-Clause
setuptools 84.2.1 MIT
simpy 4.1.2 MIT
sphinx 9.0.4 BSD-2-Clause
sqlalchemy 2.1.9 MIT
starlette 1.10.0 BSD-3-Clause
statsmodels 0.15.0 BSD-3-Clause
sympy 1.14.0 BSD-3-Clause
textual 8.2.8 MIT
toolz 1.2.0 BSD-3-Clause
tornado 6.6.1 Apache-2.0
tox 4.67.15 MIT
trio 0.35.0 MIT OR Apache-2.0
twisted 26.10.0 MIT
urllib3 2.8.0 MIT
uvicorn 0.54.0 BSD-3-Clause
virtualenv 21.15.11 MIT
websockets 17.4 BSD-3-Clause
werkzeug 3.1.9 BSD-3-Clause
xarray 2026.9.0 Apache-2.0
"""

_PSF = "PSF-2.0"
_PUBLIC_DOMAIN = "Public domain"

_APT = (
    Source("libpython3.11-stdlib", "3.11.2-6+deb12u9", "apt", "code", _PSF, 12_000_000),
    Source("libpython3.11-minimal", "3.11.2-6+deb12u9", "apt", "code", _PSF, 6_000_000),
    Source("libpython3.11-testsuite", "3.11.2-6+deb12u9", "apt", "code", _PSF, 2_000_000),
    Source(
        "r-cran-janeaustenr",
        "1.0.0-1",
        "apt",
        "prose",
        "Public domain (six novels of Jane Austen, 1811 to 1818); packaging MIT",
        6_000_000,
    ),
    Source(
        "golang-1.19-src",
        "1.19.8-2",
        "apt",
        "prose",
        "Public domain (Isaac Newton, Opticks, 1704; Abraham Lincoln, Gettysburg Address, 1863; "
        "only these two texts are read)",
        2_000_000,
    ),
    Source(
        "dict-devil",
        "1.0-13.1",
        "apt",
        "prose",
        "Public domain (Ambrose Bierce, The Devil's Dictionary, 1911)",
        2_000_000,
    ),
    Source("python3.11-doc", "3.11.2-6+deb12u9", "apt", "prose", _PSF, 8_000_000),
    Source("python-aiohttp-doc", "3.8.4-1+deb12u2", "apt", "prose", "Apache-2.0", 2_000_000),
    Source("python-astropy-doc", "5.2.1-2+deb12u1", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-attr-doc", "22.2.0-1", "apt", "prose", "MIT", 2_000_000),
    Source("python-click-doc", "8.1.3-2", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-django-doc", "3:3.2.25-0+deb12u7", "apt", "prose", "BSD-3-Clause", 3_000_000),
    Source("python-flask-doc", "2.2.2-3", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-jinja2-doc", "3.1.2-1+deb12u3", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-pandas-doc", "1.5.3+dfsg-2", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-pytest-doc", "7.2.1-2", "apt", "prose", "MIT", 2_000_000),
    Source("python-setuptools-doc", "66.1.1-1+deb12u2", "apt", "prose", "MIT", 2_000_000),
    Source("python-skimage-doc", "0.19.3-8", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-sklearn-doc", "1.2.1+dfsg-1", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-sqlalchemy-doc", "1.4.46+ds1-1", "apt", "prose", "MIT", 2_000_000),
    Source("python-sympy-doc", "1.11.1-1", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-tornado-doc", "6.2.0-3+deb12u4", "apt", "prose", "Apache-2.0", 2_000_000),
    Source("python-werkzeug-doc", "2.2.2-3+deb12u1", "apt", "prose", "BSD-3-Clause", 2_000_000),
    Source("python-xarray-doc", "2023.01.0-1.1", "apt", "prose", "Apache-2.0", 2_000_000),
    Source("sphinx-doc", "5.3.0-4", "apt", "prose", "BSD-2-Clause", 2_000_000),
    Source("twisted-doc", "22.4.0-4+deb12u1", "apt", "prose", "MIT", 2_000_000),
)

_GENERATED = (
    Source(
        "json-records", "1", "generated", "json", "CC0-1.0 (written by json_records.py)", 16_000_000
    ),
)


def all_sources() -> tuple[Source, ...]:
    """Every source, in the fixed order in which the corpus reads them."""
    pip = []
    for line in _PIP.split("\n"):
        if line.strip():
            name, version, licence = line.split(" ", 2)
            pip.append(Source(name, version, "pip", "code", licence))
    return (*pip, *_APT, *_GENERATED)
