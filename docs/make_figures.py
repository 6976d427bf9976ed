"""Draw the pictures of the gallery: `python docs/make_figures.py [NAME ...]` writes docs/figures/plot-NAME.png.

The code of every picture stands in docs/plots.md; building the site runs it as well, and shows what it draws.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from gallery import PAGE, draw, read_page


def main() -> None:
    pictures = {picture.name: picture for picture in read_page(PAGE.read_text(encoding="utf-8"))}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which: {', '.join(pictures)}; all when none is named"
    )
    parser.add_argument("--folder", type=Path, default=PAGE.with_name("figures"), help="where to write")
    parser.add_argument("--part", help="only every n-th picture, from the i-th on, as i/n: 1/2 and 2/2 share the work")
    parser.add_argument("--dpi", type=int, default=100)
    wanted = parser.parse_args()
    unknown = set(wanted.names) - set(pictures)
    if unknown:
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    first, every = map(int, (wanted.part or "1/1").split("/"))
    wanted.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("error")  # what warns is no example to follow
    for name in [*(wanted.names or pictures)][first - 1 :: every]:
        figure = draw(pictures[name]).figure
        figure.savefig(wanted.folder / f"plot-{name}.png", dpi=wanted.dpi, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
