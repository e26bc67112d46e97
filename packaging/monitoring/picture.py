#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the dashboard of a server from a running Prometheus that scrapes it, where there is no Grafana.

    python3 packaging/monitoring/picture.py segcache --prometheus http://127.0.0.1:9090 --minutes 10 --out dashboard.png

Asks what the panels ask, for the last minutes, and draws each at its place. Needs matplotlib.
"""
import argparse
import datetime
import json
import math
import os
import time
import urllib.parse
import urllib.request

import matplotlib

matplotlib.use("Agg")
import matplotlib.dates
import matplotlib.pyplot
import matplotlib.ticker

import check
import live

POINTS = 300
# Inches of one column, and of one line, of a dashboard's grid.
COLUMN, LINE = 0.62, 0.34
INK, GRID, PAPER = "#d8d9da", "#2c3235", "#181b1f"
# The largest step of a unit first. Rates of something are written like its number.
STEPS = {
    "bytes": [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")],
    "Bps": [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s")],
    "s": [(60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")],
    "percentunit": [(0.01, "%")],
    "": [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")],
}


def written(value, unit):
    if not value:
        return "0"
    steps = STEPS.get(unit, STEPS[""])
    size, name = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    return f"{value / size:.3g} {name}".strip()


def binary_step(top):
    """The distance of marks for some five of them up to `top`, each a round number of KiB or MiB."""
    return 2.0 ** max(0, math.ceil(math.log2(max(top, 1) / 5)))


def asked(options, expression):
    """The series that an expression has had, each with its labels and its points."""
    expression = live.with_variables(expression, options.server, options.rate)
    end = time.time()
    seconds = 60 * options.minutes
    question = {"query": expression, "start": end - seconds, "end": end, "step": max(1, seconds / POINTS)}
    url = f"{options.prometheus}/api/v1/query_range?{urllib.parse.urlencode(question)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        for series in json.load(answer)["data"]["result"]:
            points = [(float(at), float(value)) for at, value in series["values"]]
            yield series["metric"], [point for point in points if math.isfinite(point[1])]


def named(pattern, labels):
    for label, value in labels.items():
        pattern = pattern.replace("{{%s}}" % label, value)
    return pattern


def draw(options, panel, axes):
    unit = panel["fieldConfig"]["defaults"].get("unit", "")
    for target in panel["targets"]:
        for labels, points in asked(options, target["expr"]):
            if points:
                times = [datetime.datetime.fromtimestamp(at) for at, _ in points]
                name = named(target["legendFormat"], labels)
                axes.plot(times, [value for _, value in points], linewidth=1, label=name)
    axes.set_title(panel["title"], color=INK, fontsize=9, loc="left")
    axes.set_facecolor(PAPER)
    axes.tick_params(colors=INK, labelsize=7, length=0)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_ylim(bottom=0)
    if unit == "bytes":
        axes.yaxis.set_major_locator(matplotlib.ticker.MultipleLocator(binary_step(axes.get_ylim()[1])))
    axes.yaxis.set_major_formatter(lambda value, _: written(value, unit))
    axes.xaxis.set_major_locator(matplotlib.dates.AutoDateLocator(maxticks=5))
    axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H:%M"))
    for spine in axes.spines.values():
        spine.set_visible(False)
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[:6], names[:6], fontsize=6, labelcolor=INK, frameon=False, ncol=2, loc="upper left",
                bbox_to_anchor=(0, -0.1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", choices=live.SERVERS)
    parser.add_argument("--prometheus", default="http://127.0.0.1:9090")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--rate", default="1m", help="over what rates are, as Prometheus writes it; four scrapes at least [1m]")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    with open(os.path.join(check.FOLDER, f"{options.server}.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    panels = dashboard["panels"]
    lines = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    figure = matplotlib.pyplot.figure(figsize=(24 * COLUMN, lines * LINE), facecolor="#111217")
    for panel in panels:
        place = panel["gridPos"]
        top = 1 - place["y"] / lines
        if panel["type"] == "row":
            figure.text(0.01, top - 0.6 / lines, panel["title"], color=INK, fontsize=11, weight="bold")
            continue
        # Room for the names of the lines below each panel.
        axes = figure.add_axes((place["x"] / 24 + 0.045, top - (place["h"] - 2.4) / lines,
                                place["w"] / 24 - 0.055, (place["h"] - 3.4) / lines))
        draw(options, panel, axes)
    figure.savefig(options.out, dpi=80, facecolor=figure.get_facecolor())


if __name__ == "__main__":
    main()
