"""The window's tests run offscreen, and what Qt warns of fails them."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
