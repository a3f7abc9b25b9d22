# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause

PYTHON ?= python3
PY := .venv/bin/python
WORLD ?= worlds/warehouse.world.xml
TIME ?= 20

# A sourced ROS installation or another environment must not reach into ours.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME LD_LIBRARY_PATH VIRTUAL_ENV _ROS_WHEELS_BOOTSTRAP_COMPLETE
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH
unexport ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION RMW_IMPLEMENTATION
# Each process would compile all modules again: half a second, and tests start hundreds of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint style types tests-side-by-side format bench docs clean setup setup-dev

help:
	@echo "make demo    drive a robot through a small warehouse over ROS 2 (WORLD=file.xml TIME=20)"
	@echo "make test    style, types and all tests"
	@echo "make lint    style and types only"
	@echo "make format  put the code into the project's style"
	@echo "make bench   measure the speed of the simulation"
	@echo "make docs    build the site in docs/_build (needs Python 3.11)"
	@echo "make clean   remove all that make has made, also .venv and .cache"

demo: setup
	@$(PY) -m mvsim_demo "$(WORLD)" --time "$(TIME)"

# Tests that measure times on the wall clock get the machine to themselves, after all others.
test: style
	@$(MAKE) --no-print-directory --jobs 2 types tests-side-by-side
	$(PY) -m pytest -m alone tests/ros tests/consumers

# In the order of tests/conftest.py: files that take long come first, or a worker waits at the end.
tests-side-by-side: setup-dev
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not alone"

lint: style types

style: setup-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: setup-dev
	$(PY) -m mypy
	$(PY) -m mypy scripts tests/conftest.py

format: setup-dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: setup
	$(PY) -m benchmarks

docs:
	@$(PYTHON) scripts/bootstrap.py docs
	$(PY) -m sphinx -q -W --keep-going docs docs/_build
	@echo "docs/_build/index.html"

clean:
	rm -rf docs/_build .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf build install log mvsim_*/build mvsim_*/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@$(PYTHON) scripts/bootstrap.py run

setup-dev:
	@$(PYTHON) scripts/bootstrap.py dev
