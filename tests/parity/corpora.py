"""The corpora: what each of them documents, in every format in which it is printed."""

import ast
import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import batched
from pathlib import Path
from typing import Any

