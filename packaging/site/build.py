#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site: mdBook over the pages that docs/SUMMARY.md names, and over the files that they link.

usage: build.py [--mdbook PROGRAM] [--out FOLDER]

Pages keep their places in the repository, so relative links lead where they lead there. A file that is no page, such as
source code, is shown as a page of its own with numbered lines. A folder becomes a list of what is in it. At the end
each link of the site must lead to a page of it, and to an anchor that the page has; links to other sites are not followed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUMMARY = ROOT / "docs/SUMMARY.md"
SOURCE_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{path}</title><meta name="viewport" content="width=device-width">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 14px/1.45 ui-monospace, monospace; margin: 1em 2em; }}
pre {{ counter-reset: line; margin: 0; }}
pre span::before {{ counter-increment: line; content: counter(line); display: inline-block; width: 4ch; margin-right: 2ch;
  text-align: right; opacity: 0.5; }}
</style></head><body><p><a href="{home}">{title}</a> / {path}</p>
{body}
</body></html>
"""


def chapters():
    """The lines of SUMMARY.md with paths from the root, and these paths. Behind a README come the pages beside it."""
    lines, pages = [], []
    for line in SUMMARY.read_text().splitlines():
        found = re.fullmatch(r"( *)(- )?\[(.*)\]\((.*)\)", line)
        if found is None:
            lines.append(line)
            continue
        indent, bullet, title, target = found.groups()
        page = os.path.normpath(f"docs/{target}")
        lines.append(f"{indent}{bullet or ''}[{title}]({page})")
        pages.append(page)
        folder = Path(page).parent
        if Path(page).name == "README.md" and folder.parts[:1] == ("docs",):
            for beside in sorted((ROOT / folder).glob("[0-9]*.md")):
                title = beside.read_text().splitlines()[0].removeprefix("# ")
                path = str(beside.relative_to(ROOT))
                lines.append(f"{indent}    - [{title}]({path})")
                pages.append(path)
    return "\n".join(lines) + "\n", pages


def version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def lay_out(build):
    summary, pages = chapters()
    missing = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} - {*pages, "docs/SUMMARY.md"}
    if missing:
        sys.exit(f"site: docs/SUMMARY.md does not name {', '.join(sorted(missing))}")
    shutil.rmtree(build, ignore_errors=True)
    pictures = [str(path.relative_to(ROOT)) for kind in ("svg", "png") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    for file in [*pages, *pictures]:
        target = build / "source" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, target)
    (build / "source/SUMMARY.md").write_text(summary)
    for name in ["book.toml", "site.css"]:
        shutil.copyfile(HERE / name, build / name)


class Links(HTMLParser):
    """The links of a page, and what in it may be linked."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and tag != "base":
                self.targets.append(value)


def is_elsewhere(target):
    return re.match(r"[a-z+]+:|//", target) is not None


class Site:
    """The built pages; files of the repository join them when a page links them."""

    def __init__(self, folder, title):
        self.folder, self.title = folder, title
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        told = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.files = set(told.splitlines())

    def page_of(self, path):
        """The page for a path in the site, which is made if the repository has a file or folder there."""
        built = self.folder / path
        if built.is_file():
            return path
        # mdBook makes links to pages of all that ends with `.md`, and an index of each README.
        if path.endswith("README.html") and (built.parent / "index.html").is_file():
            return str(Path(path).parent / "index.html")
        if (built / "index.html").is_file():
            return f"{path}/index.html"
        kept, page = path, f"{path}.html"
        if path.endswith(".html") and f"{path.removesuffix('.html')}.md" in self.files:
            kept, page = f"{path.removesuffix('.html')}.md", path
        if kept in self.files:
            lines = escape((ROOT / kept).read_text(errors="replace"), quote=False).splitlines()
            numbered = "\n".join(f'<span id="L{n}"></span>{line}' for n, line in enumerate(lines, 1))
            return self.keep(page, kept, f"<pre>{numbered}\n</pre>")
        if any(name.startswith(f"{path}/") for name in self.files):
            return self.keep(f"{path}/index.html", path, self.list_of(path))
        return None

    def keep(self, page, path, body):
        target = self.folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        home = os.path.relpath(self.folder / "index.html", target.parent)
        target.write_text(SOURCE_PAGE.format(path=escape(path), home=home, title=escape(self.title), body=body))
        return page

    def list_of(self, folder):
        inside = [name.removeprefix(f"{folder}/") for name in self.files if name.startswith(f"{folder}/")]
        entries = sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in inside})
        return "<ul>" + "".join(f"<li>{escape(entry)}</li>" for entry in entries) + "</ul>"

    def lead(self, page):
        """Writes a page anew, with links to files of the repository leading to the pages that show them."""

        def led(match):
            target = unescape(match.group(2))
            file, mark, anchor = target.partition("#")
            if is_elsewhere(target) or not file:
                return match.group(0)
            path = os.path.normpath(page.parent.relative_to(self.folder) / unquote(file))
            to = None if path.startswith("..") else self.page_of(path)
            if to is None or to == path:
                return match.group(0)
            relative = os.path.relpath(self.folder / to, page.parent)
            return f'{match.group(1)}="{escape(relative)}{mark}{escape(anchor)}"'

        text = page.read_text()
        page.write_text(re.sub(r'\b(href)="([^"]*)"', led, text))


def check(site):
    """The numbers of pages and of links in a folder, and the links that lead to nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     links = '<a href="b/c.html#x"> <a href="b/c.html#y"> <a href="d.html"> <a href="https://e.org/">'
    ...     (Path(folder) / "b").mkdir()
    ...     written = (Path(folder) / "a.html").write_text(links)
    ...     written = (Path(folder) / "b/c.html").write_text('<p id="x"><a href="../a.html">')
    ...     check(Path(folder))
    (2, 4, ['a.html: b/c.html#y: there is no such anchor', 'a.html: d.html leads to nothing'])
    """
    # What a web server shows in place of a page that it has not: its links are those of the root.
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}
    wrong, count = set(), 0
    for page, links in pages.items():
        for target in links.targets:
            if is_elsewhere(target):
                continue
            count += 1
            file, _, anchor = target.partition("#")
            to = Path(os.path.normpath(page.parent / unquote(file.split("?")[0]))) if file else page
            if not to.is_file():
                wrong.add(f"{page.relative_to(site)}: {target} leads to nothing")
            elif anchor and unquote(anchor) not in pages[to].anchors:
                wrong.add(f"{page.relative_to(site)}: {target}: there is no such anchor")
    return len(pages), count, sorted(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mdbook", default="mdbook")
    parser.add_argument("--out", type=Path, default=ROOT / "target/site")
    arguments = parser.parse_args()
    build = arguments.out.resolve()
    lay_out(build)
    title = f"Shoebill {version()}"
    subprocess.run([arguments.mdbook, "build", build], check=True, env={**os.environ, "MDBOOK_BOOK__TITLE": title})
    site = Site(build / "book", title)
    for page in list(site.folder.rglob("*.html")):
        site.lead(page)
    pages, links, wrong = check(site.folder)
    for line in wrong:
        print(f"site: {line}")
    print(f"site: {pages} pages, {links} links within them, {len(wrong)} of these wrong: {site.folder}/index.html")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
