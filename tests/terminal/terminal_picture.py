# SPDX-License-Identifier: Apache-2.0
"""Makes a picture of `meterbank demo` in a terminal: what tmux shows after a while, as SVG.

usage: terminal_picture.py METERBANK PICTURE.svg [SECONDS [KEYS...]]
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT = 110, 36
CELL_WIDTH, CELL_HEIGHT = 8.4, 17
BACKGROUND, FOREGROUND = "#16191d", "#d7dadf"
BASIC = ["#2b2f36", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dadf",
         "#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff"]


def color_of(number):
    """Of the 256 that terminals agree on."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#{0:02x}{0:02x}{0:02x}".format(8 + 10 * (number - 232))
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])


class Look:
    def __init__(self):
        self.text, self.back, self.bold, self.faint, self.reverse = None, None, False, False, False

    def take(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 2, 7):
                setattr(self, {1: "bold", 2: "faint", 7: "reverse"}[code], True)
            elif code in (22, 27):
                self.bold = self.faint = False if code == 22 else self.bold
                self.reverse = self.reverse if code == 22 else False
            elif code in (38, 48) and codes[:1] == [5]:
                setattr(self, "text" if code == 38 else "back", color_of(codes[1]))
                codes = codes[2:]
            elif 30 <= code <= 37:
                self.text = color_of(code - 30)
            elif 40 <= code <= 47:
                self.back = color_of(code - 40)
            elif code == 39:
                self.text = None
            elif code == 49:
                self.back = None

    def colors(self):
        text, back = self.text or FOREGROUND, self.back
        return (back or BACKGROUND, text) if self.reverse else (text, back)


def svg_of(screen):
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="DejaVu Sans Mono, monospace" '
             'font-size="14">' % (WIDTH * CELL_WIDTH + 16, HEIGHT * CELL_HEIGHT + 16),
             '<rect width="100%%" height="100%%" fill="%s"/>' % BACKGROUND]
    look = Look()
    for row, line in enumerate(screen.split("\n")[:HEIGHT]):
        column = 0
        for codes, text in re.findall(r"(?:\x1b\[([0-9;]*)m)|([^\x1b]+)", line):
            if not text:
                look.take(codes)
                continue
            # Each piece has a place of its own, so that no font moves what is behind it.
            for piece in re.findall(r"[ -~]+|[^ -~]", text):
                x, y = 8 + column * CELL_WIDTH, 8 + row * CELL_HEIGHT
                color, back = look.colors()
                if back:
                    parts.append('<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>'
                                 % (x, y, len(piece) * CELL_WIDTH + 0.3, CELL_HEIGHT + 0.3, back))
                if piece == "▀":
                    parts.append('<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>'
                                 % (x, y, CELL_WIDTH + 0.3, CELL_HEIGHT / 2 + 0.3, color))
                elif piece.strip():
                    weight = ' font-weight="bold"' if look.bold else ""
                    weight += ' opacity="0.6"' if look.faint else ""
                    parts.append('<text x="%g" y="%g" fill="%s"%s textLength="%g" xml:space="preserve">%s</text>'
                                 % (x, y + 13, color, weight, len(piece) * CELL_WIDTH, html.escape(piece)))
                column += len(piece)
    return "\n".join(parts + ["</svg>", ""])


def main():
    program, picture = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    tmux = ["tmux", "-L", "meterbank-picture-%d" % os.getpid(), "-f", "/dev/null"]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        environment.pop("TMUX", None)
        try:
            subprocess.run([*tmux, "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT),
                            "TERM=tmux-256color %s demo --dir %s" % (program, folder)], check=True, env=environment)
            time.sleep(seconds)
            for key in sys.argv[4:]:
                subprocess.run([*tmux, "send-keys", key], check=True)
                time.sleep(1)
            screen = subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True, capture_output=True,
                                    text=True).stdout
        finally:
            subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
    with open(picture, "w", encoding="utf-8") as out:
        out.write(svg_of(screen))


if __name__ == "__main__":
    main()
