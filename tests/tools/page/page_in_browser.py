# SPDX-License-Identifier: Apache-2.0
"""The page in a real Chromium: page_in_browser.py METERBANK METERBANK-VIEW MARKUP-PROVIDER"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from chromium import Chromium

CLI, VIEW, MARKUP = "", "", ""
# Of the element that keys go to.
NAME_OF_FOCUS = """(e => e === document.body ? '' : e.id ||
    e.tagName + ':' + (e.getAttribute('aria-label') || e.textContent).slice(0, 30))(document.activeElement)"""
IS_FOCUS_SEEN = """(e => e === document.body || getComputedStyle(e).outlineStyle !== 'none' ||
    e.matches('tr,main'))(document.activeElement)"""
INSTANCE = "screen=instance&set=demo_orders&instance=eu&counter="
ASSETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/page/assets")
# Follows a place with the page's own feed.js, and compares eight pictures that it put together from tails with whole ones
# of the same moments. Numbers of plots have seven digits in both; what there is not is missing in one and empty in the
# other.
FOLLOW_AND_COMPARE = """
var fileData = null, part = {section: 0, first: 0, lines: 100}, compared = [], tailsTaken = 0;
const place = new URLSearchParams(PLACE);
const wholeOf = whole;
whole = tail => (++tailsTaken, wholeOf(tail));
const isNothing = value => value === null || value === undefined || value === false || value.length === 0;
function differ(one, other, path) {
  if (isNothing(one) && isNothing(other)) return '';
  if (typeof one === 'number' && typeof other === 'number')
    return Math.abs(one - other) <= 1e-6 * Math.abs(other) ? '' : `${path}: ${one}, not ${other}`;
  if (typeof one !== 'object' || typeof other !== 'object' || isNothing(one) || isNothing(other) ||
      one.length !== other.length)
    return one === other ? '' : `${path}: ${JSON.stringify(one)}, not ${JSON.stringify(other)}`;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  names.delete('trends');
  names.delete('kept');
  names.delete('rows');
  names.delete('was');
  for (const name of names) {
    const found = differ(one[name], other[name], `${path}.${name}`);
    if (found) return found;
  }
  return '';
}
async function compare() {
  const made = picture, answer = await ask(`/picture?${place}&${windowWords()}`), wanted = await answer.json();
  if (wanted.time === made.time && tailsTaken) compared.push(differ(made, wanted, 'picture'));
}
onPicture = compare;
onTrouble = text => text && compared.push(text);
void follow();
"""


class Served:
    """A running `meterbank-view`."""

    def __init__(self, directory, *words):
        self.process = subprocess.Popen([VIEW, "--dir", directory, "-i", "200ms", *words],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.base, self.token = self.process.stdout.readline().strip().split("#")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(20) != 0:
            raise AssertionError(f"meterbank-view ended with {self.process.returncode}")
        self.process.stdout.close()

    def address(self, link="", token=None):
        return f"{self.base}?{link}#{self.token if token is None else token}"


class PageInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = os.path.join(cls.folder.name, "run")
        os.mkdir(cls.dir, 0o700)
        cls.demo = subprocess.Popen([CLI, "demo", "--dir", cls.dir, "-n", "0"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.logs = [os.path.join(cls.folder.name, name) for name in ("one.mbr", "two.mbr")]
        time.sleep(1)
        for log, duration in zip(cls.logs, ("3s", "1500ms")):
            subprocess.run([CLI, "record", "--dir", cls.dir, "-o", log, "-i", "100ms", "--for", duration,
                            "demo_orders/*/*"], check=True, capture_output=True)
        cls.browser = Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.demo.terminate()
        cls.demo.wait()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.open_tab()

    def is_quiet(self, origin):
        """Nothing complained, and nothing but the page's own origin was asked."""
        self.assertEqual(self.browser.complaints(), [])
        for url in self.browser.requested():
            self.assertTrue(url.startswith((origin, "data:", "about:")), url)

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r})?.textContent ?? ''")

    def until_link(self, name):
        self.browser.until(f"[...document.querySelectorAll('td a')].some(a => a.textContent === {name!r})")

    def follow(self, name):
        self.until_link(name)
        self.browser.run(f"[...document.querySelectorAll('td a')].find(a => a.textContent === {name!r}).click()")

    def test_a_live_picture_moves(self):
        with Served(self.dir) as served:
            self.browser.go(served.address(INSTANCE + "latency"))
            self.browser.until("document.querySelectorAll('.plot canvas').length && document.querySelector('.heat')")
            moment = self.text("#moment")
            self.assertIn("live", moment)
            self.browser.until(f"document.querySelector('#moment').textContent !== {moment!r}")
            points = "document.querySelector('.legend').textContent"
            before = self.browser.run(points)
            self.browser.until(f"{points} !== {before!r}")
            self.assertEqual(self.browser.run("location.hash"), "")
            self.is_quiet(served.base)

    def test_pictures_made_from_tails_are_whole(self):
        with open(os.path.join(ASSETS, "feed.js"), encoding="ascii") as file:
            feed = file.read()
        with Served(self.dir) as served:
            for place, columns in ((INSTANCE + "latency", 600), (INSTANCE + "accepted", 600), ("screen=overview", 600),
                                   ("screen=set&set=demo_orders", 600),
                                   # Lines that change their places, and columns of several moments.
                                   ("screen=set&set=demo_orders&sort=accepted", 600), (INSTANCE + "latency", 4)):
                with self.subTest(place, columns=columns):
                    self.browser.open_tab()
                    self.browser.go(served.address("screen=overview"))
                    self.browser.until("document.querySelector('tbody tr')")
                    self.browser.run(feed.replace("600", str(columns)) + FOLLOW_AND_COMPARE.replace("PLACE", repr(place)))
                    self.browser.until("compared.length >= 8", 30)
                    self.assertEqual(set(self.browser.run("compared")), {""})
                    self.is_quiet(served.base)

    def test_columns_are_lists_of_numbers_in_each_form(self):
        with open(os.path.join(ASSETS, "feed.js"), encoding="ascii") as file:
            forms = "".join(line for line in file if line.startswith(("const bytesOf", "const listOf", "const valuesOf")))
        for column, values in [("''", []), ("'AACAPwAAwH8='", [1, None]), ("{wide: ''}", []),
                               ("{wide: 'AACACmXNzUEAAAAAAAD4fw=='}", [1e9 + 21, None])]:
            self.assertEqual(self.browser.run(f"(() => {{ {forms} return valuesOf({column}); }})()"), values)

    def test_every_counter_of_an_instance_has_a_plot_that_leads_to_it(self):
        browser, titles = self.browser, "[...document.querySelectorAll('.others h2')].map(e => e.textContent)"
        with Served(self.dir) as served:
            browser.go(served.address(INSTANCE + "latency"))
            browser.until("document.querySelectorAll('.others canvas').length >= 3")
            others = browser.run(titles)
            self.assertIn("accepted", others)
            self.assertNotIn("latency", others)
            browser.run("[...document.querySelectorAll('.others h2 a')].find(e => e.textContent === 'accepted').click()")
            browser.until("location.search.includes('counter=accepted')")
            browser.until("document.querySelector('.charts h2').textContent === 'accepted'")
            browser.until(f"{titles}.includes('latency')")
            self.assertEqual(sorted(browser.run(titles) + ["accepted"]), sorted(others + ["latency"]))
            self.is_quiet(served.base)

    def test_a_plot_that_is_not_on_the_screen_is_drawn_when_it_comes_there(self):
        browser = self.browser
        browser.resize(900, 240)
        drawn = "[...document.querySelectorAll('.plot canvas')].map(canvas => canvas.drawn ?? 0)"
        with Served(self.dir) as served:
            browser.go(served.address(INSTANCE + "latency"))
            browser.until("document.querySelectorAll('.others canvas').length >= 3")
            browser.run("""const clear = CanvasRenderingContext2D.prototype.clearRect;
                CanvasRenderingContext2D.prototype.clearRect = function(...box) {
                  this.canvas.drawn = (this.canvas.drawn ?? 0) + 1;
                  return clear.apply(this, box);
                }""")
            browser.until(f"{drawn}[0] >= 3")
            self.assertEqual(browser.run(f"{drawn}.at(-1)"), 0)
            browser.run("[...document.querySelectorAll('.plot')].at(-1).scrollIntoView()")
            browser.until(f"{drawn}.at(-1) >= 2")
            # The window changed while it was away and no new picture came.
            browser.run("scrollTo(0, 0), document.querySelector('#freeze').click()")
            browser.until("document.querySelector('#moment').dataset.state === 'frozen'")
            browser.resize(500, 240)
            browser.wait(0.5)
            before = browser.run(f"{drawn}.at(-1)")
            browser.run("[...document.querySelectorAll('.plot')].at(-1).scrollIntoView()")
            browser.until(f"{drawn}.at(-1) > {before}")
            self.assertAlmostEqual(*browser.run("(e => [e.clientWidth - 12, e.querySelector('canvas').clientWidth])("
                                                "[...document.querySelectorAll('.plot')].at(-1))"), delta=2)
            self.is_quiet(served.base)

    def test_a_wrong_token_shows_a_plain_word_and_no_counter(self):
        with Served(self.dir) as served:
            self.browser.go(served.address(token="0" * 32))
            self.browser.until("!document.querySelector('#problems').hidden")
            self.assertIn("the token is wrong", self.text("#problems"))
            self.assertEqual(self.browser.run("document.querySelectorAll('td').length"), 0)

    def test_a_page_that_hears_nothing_says_so_until_it_does(self):
        browser, state = self.browser, "document.querySelector('#moment').dataset.state"
        with Served(self.dir) as served:
            browser.go(served.address())
            browser.until(f"{state} === 'live'")
            served.process.send_signal(signal.SIGSTOP)
            try:
                browser.until(f"{state} === 'lost'", 25)
                self.assertIn("does not answer", self.text("#problems"))
            finally:
                served.process.send_signal(signal.SIGCONT)
            browser.until(f"{state} === 'live'")
            self.assertTrue(browser.run("document.querySelector('#problems').hidden"))

    def test_a_page_of_a_server_that_has_ended_never_says_live(self):
        browser, state = self.browser, "document.querySelector('#moment').dataset.state"
        with Served(self.dir) as served:
            browser.go(served.address())
            browser.until("document.querySelector('tbody tr')")
            port = served.base.rstrip("/").rsplit(":", 1)[1]
        browser.until(f"{state} === 'lost'")
        browser.key("[")
        with Served(self.dir, "--port", port):
            browser.until("document.querySelector('#problems').textContent.includes('the token is wrong')", 20)
            self.assertEqual(browser.run(state), "lost")
        self.assertEqual([one for one in browser.complaints() if "TypeError" in one], [])

    def test_links_lead_down_and_the_way_back_up(self):
        with Served(self.dir) as served:
            self.browser.go(served.address())
            self.follow("demo_orders")
            self.until_link("eu")
            self.assertIn("set=demo_orders", self.browser.run("location.search"))
            self.browser.run("history.back()")
            self.until_link("demo_orders")
            self.is_quiet(served.base)

    def test_keys_alone_reach_everything(self):
        browser = self.browser
        with Served(self.dir) as served:
            browser.go(served.address("screen=set&set=demo_orders"))
            browser.until("document.querySelectorAll('tbody tr').length === 3")
            reached = set()
            for _ in range(60):
                browser.key("Tab")
                reached.add(browser.run(NAME_OF_FOCUS))
                self.assertIs(browser.run(IS_FOCUS_SEEN), True)
            buttons = browser.run("[...document.querySelectorAll('header :is(button, input, select)')].map(e => e.id)")
            self.assertEqual([one for one in buttons if one not in reached], [])
            self.assertTrue(any(one.startswith("BUTTON:Sort by") for one in reached), reached)
            self.assertTrue(any(one.startswith("TR:") for one in reached), reached)
            browser.run("document.activeElement.blur()")
            browser.key("/")
            self.assertEqual(browser.run("document.activeElement.id"), "filter")
            for letter in "asia":
                browser.key(letter)
            browser.until("document.querySelectorAll('tbody tr').length === 1")
            browser.until("location.search.includes('filter=asia')")
            browser.key("Escape")
            browser.until("document.querySelectorAll('tbody tr').length === 3")
            browser.key("s")
            browser.until("location.search.includes('sort=')")
            browser.key(" ")
            browser.until("document.querySelector('#moment').dataset.state === 'frozen'")
            browser.until("location.search.includes('at=')")
            browser.until("document.querySelector('#moment').textContent.startsWith('at')")
            frozen = self.text("#moment")
            browser.key("[")
            browser.until(f"document.querySelector('#moment').textContent !== {frozen!r}")
            browser.key("]")
            browser.until(f"document.querySelector('#moment').textContent === {frozen!r}")
            browser.key(" ")
            browser.until("!location.search.includes('at=')")
            browser.key("j")
            browser.until("document.querySelector('tr[aria-selected]')")
            self.assertTrue(browser.run("!document.querySelector('#details').hidden"))
            browser.key("Enter")
            browser.until("location.search.includes('screen=instance')")
            browser.key("Backspace")
            browser.until("location.search.includes('screen=set')")
            browser.key("t")
            browser.until("document.querySelector('dialog').open")
            browser.key("Escape")
            browser.until("!document.querySelector('dialog').open")
            browser.key("?")
            browser.until("document.querySelector('dialog').open")
            self.assertIn("Search rows", self.text("dialog"))
            self.is_quiet(served.base)

    def test_every_control_has_a_name_and_rows_are_rows(self):
        with Served(self.dir) as served:
            self.browser.go(served.address(INSTANCE + "latency"))
            self.browser.until("document.querySelectorAll('tbody tr').length > 3 && document.querySelector('.heat')")
            nodes = self.browser.controls()
            roles = {role for role, _ in nodes}
            named = {"main", "navigation", "table", "toolbar", "searchbox", "image"}
            self.assertEqual((named | {"banner", "columnheader", "row", "cell"}) - roles, set())
            for role, name in nodes:
                if role in named | {"button", "link", "combobox", "region"}:
                    self.assertNotEqual(name.strip(), "", role)
            images = [name for role, name in nodes if role == "image"]
            self.assertTrue(any("over time" in name and "between" in name for name in images), images)

    def test_dragging_over_a_plot_asks_for_that_part_of_the_time(self):
        browser = self.browser
        with Served(self.dir, self.logs[0]) as served:
            browser.go(served.address(INSTANCE + "accepted"))
            browser.until("document.querySelector('.area')?.clientWidth > 100")
            self.assertIn("recording", self.text("#moment"))
            box = browser.run("(r => [r.left, r.top, r.width, r.height])"
                              "(document.querySelector('.area').getBoundingClientRect())")
            middle = box[1] + box[3] / 2
            browser.drag(box[0] + box[2] * .3, middle, box[0] + box[2] * .6, middle)
            browser.until("location.search.includes('at=') && location.search.includes('span=')")
            browser.wait(0.5)
            moment = [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in browser.requested()
                      if "&at=" in url and ("/series?" in url or "/stream?" in url)]
            # Other columns would have the recording read once more.
            self.assertGreaterEqual(len(moment), 2)
            self.assertEqual(len({parts["window.columns"][0] for parts in moment}), 1)
            self.assertLess(float(browser.run("new URLSearchParams(location.search).get('span')")), 2)
            browser.until("document.querySelector('.legend').textContent.length > 5")
            self.is_quiet(served.base)

    def test_two_recordings_lie_one_over_the_other(self):
        browser, overlaid = self.browser, "document.querySelector('.legend')?.textContent.match(/\\(second\\) \\d/)"
        with Served(self.dir, *self.logs) as served:
            browser.go(served.address(INSTANCE + "accepted"))
            browser.until(overlaid)
            self.drag_over_plot(.2, .9)
            browser.until("location.search.includes('at=')")
            browser.wait(0.5)
            browser.until(overlaid)
            # The second one had ended before the last second of the first.
            for span, has_second in (("1", False), ("2", True)):
                browser.go(served.address(INSTANCE + f"accepted&span={span}"))
                browser.until("document.querySelector('.legend')?.textContent.match(/\\d/)")
                self.assertEqual("(second)" in self.text(".legend"), has_second, span)
            self.is_quiet(served.base)

    def drag_over_plot(self, begin, end):
        left, top, width, height = self.browser.run("(r => [r.left, r.top, r.width, r.height])"
                                                    "(document.querySelector('.area').getBoundingClientRect())")
        self.browser.drag(left + width * begin, top + height / 2, left + width * end, top + height / 2)

    def test_keys_halve_a_span_and_lengthen_it(self):
        browser, span = self.browser, "new URLSearchParams(location.search).get('span')"
        with Served(self.dir) as served:
            browser.go(served.address(INSTANCE + "accepted&span=30"))
            browser.until("document.querySelector('.plot canvas')")
            browser.key("-")
            browser.until(f"{span} === '15'")
            for _ in range(4):
                browser.key("-")
            browser.until(f"{span} === '1'")
            browser.key("+")
            browser.until(f"{span} === '30'")

    def test_a_heat_map_and_its_bars_take_the_width_of_a_wide_screen(self):
        browser = self.browser
        browser.resize(2560, 1200)
        with Served(self.dir) as served:
            browser.go(served.address(INSTANCE + "latency"))
            browser.until("document.querySelector('.charts .heat') && document.querySelector('.charts .bars')")
            wide, heat, bars = browser.run("['.charts', '.heat', '.bars'].map(name => "
                                           "document.querySelector(name).clientWidth)")
            self.assertGreater(heat + bars, .9 * wide)
            self.assertEqual(browser.run("[...document.querySelectorAll('.charts:not(.others) canvas')]"
                                         ".map(canvas => canvas.className).join()"), ",heat,bars")

    def test_values_are_written_as_the_tables_write_them(self):
        with open(os.path.join(ASSETS, "quantity.js"), encoding="ascii") as file:
            script = file.read()
        with open(os.path.join(ASSETS, "dom.js"), encoding="ascii") as file:
            script += "".join(line for line in file if line.startswith("const twoOf"))
        with open(os.path.join(ASSETS, "chart.js"), encoding="ascii") as file:
            script += "".join(line for line in file if line.startswith("const kTimeSteps"))
        with open(os.path.join(ASSETS, "file.js"), encoding="ascii") as file:
            script += re.search(r"^const kSizes.*?^}$", file.read(), re.S | re.M)[0]
        script += "\nconst place = new URLSearchParams();"
        self.browser.run("globalThis.eval(" + repr(script.replace("const ", "var ")) + ")")
        for value, unit, text in [(123459, "ms", "2m03s"), (995e-3, "{order}/s", "0.99 /s"), (.9996e6, "", "999600"),
                                  (999.6e3, "1", "1.00 M"), (2e-12, "s", "0.002 ns"), (1536, "KiBy", "1.50 MiB"),
                                  (2.5, "%", "2.5 %"), (0, "s", "0 s"), (-1.5, "s", "-1.50 s"), (7300, "s", "2h01m"),
                                  (9.3e18, "1", "9.30 E"), (2**63, "", "9.22e+18"), (2**53 - 1, "", str(2**53 - 1)), (None, "By", "\u2013")]:
            with self.subTest(value=value, unit=unit):
                self.assertEqual(self.browser.run(f"quantity({'null' if value is None else value}, {unit!r})"), text)
        # Exported pages sort by what they print.
        for text, number in (("1m05s", 65), ("2h03m", 7380), ("-1d02h", -93600), ("12.3 k", 12300), ("1.00 G", 1e9),
                             ("2.50 PiB", 2.5 * 2**50), ("120 \u00b5s", 120e-6), ("3.00 ms", 3e-3), ("5.0 %", 5),
                             ("1,234", 1234), ("12.0 kHz", 12e3), ("1.50 MiB/s", 1.5 * 2**20), ("9.00 Pa", 9)):
            self.assertAlmostEqual(self.browser.run(f"numberOf({text!r})"), number, msg=text)
        for low, high, unit in [(0, 1.2e6, "By"), (995e3, 1.005e6, "1"), (0, 3e24, "1"), (123.4, 123.5, "s"),
                                (9.2e18, 9.2e18 + 4096, ""), (1e-12, 4e-12, "s"), (0, 8000, "s"), (.99, 1.01, "%"),
                                (123456, 123460, "ms"), (0, 900, "KiBy")]:
            with self.subTest(low=low, high=high, unit=unit):
                labels = self.browser.run(
                    f"roundTicks({low}, {high}, {(high - low) / 6}, {unit!r}).map(([, label]) => label)")
                self.assertGreaterEqual(len(labels), 2)
                self.assertEqual(len(set(labels)), len(labels), labels)
                self.assertLessEqual(max(map(len, labels)), 12, labels)
        self.browser.run("place.set('base-units', '1')")
        for value, unit, text in [(123459, "ms", "123.459 s"), (1536, "KiBy", "1572864 By"), (.25, "1", "0.25")]:
            self.assertEqual(self.browser.run(f"quantity({value}, {unit!r})"), text)
        for high, unit, label in [(1.2e6, "By/s", "1000000 By/s"), (200, "{order}/s", "200 {order}/s"), (8000, "s", "8000 s"),
                                  (2.04, "ms", "0.002 s"), (.5, "1", "0.4")]:
            labels = self.browser.run(f"roundTicks(0, {high}, {high / 4}, {unit!r}).map(([, label]) => label)")
            self.assertIn(label, labels)
            self.assertEqual(len(set(labels)), len(labels), labels)
        self.browser.run("place.delete('base-units')")
        self.assertEqual(self.browser.run("roundTicks(0, 1.2e6, 4e5, 'By').map(([, label]) => label)"),
                         ["0 B", "0.5 MiB", "1.0 MiB"])

    def test_an_exported_file_works_offline(self):
        browser = self.browser
        page = os.path.join(self.folder.name, "page.html")
        subprocess.run([VIEW, self.logs[0], "--export", page], check=True, capture_output=True)
        browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0,
                     uploadThroughput=0)
        browser.go("file://" + page)
        self.follow("demo_orders")
        self.follow("eu")
        browser.until("document.querySelector('.plot canvas')")
        browser.key("/")
        for letter in "accep":
            browser.key(letter)
        browser.until("document.querySelectorAll('tbody tr').length === 1")
        browser.key("Escape")
        browser.until("document.querySelectorAll('.others canvas').length >= 3")
        self.assertEqual(browser.run("['stored', 'units', 'group'].filter(id => !document.getElementById(id).hidden)"), [])
        self.assertEqual(browser.run("[...document.querySelectorAll('a:not(.skip)')].map(a => a.getAttribute('href'))"
                                     ".filter(href => !href.startsWith('#?'))"), [])
        seen = [self.text("#moment")]
        for key in "[[[]":
            browser.key(key)
            browser.until(f"document.querySelector('#moment').textContent !== {seen[-1]!r}")
            seen.append(self.text("#moment"))
        self.assertEqual(len(set(seen)), 4)
        self.assertEqual(seen[2], seen[4])
        self.assertIn("show its last moment", self.text("#problems"))
        self.is_quiet("file://")

    def test_an_exported_file_cuts_the_curves_of_both_recordings(self):
        browser = self.browser
        page = os.path.join(self.folder.name, "both.html")
        subprocess.run([VIEW, *self.logs, "--export", page], check=True, capture_output=True)
        browser.go("file://" + page + "#?" + INSTANCE + "accepted")
        browser.until("document.querySelector('.legend')?.textContent.includes('(second)')")
        self.drag_over_plot(.2, .5)
        browser.until("location.hash.includes('span=')")
        browser.wait(0.5)
        # The plot is as long as what was chosen of it, or the second recording is drawn far behind that.
        labels = browser.run("document.querySelector('.plot').getAttribute('aria-label')")
        self.assertEqual(labels.count("between"), 2, labels)
        self.drag_over_plot(.1, .9)
        browser.until("Number(new URLSearchParams(location.hash.slice(2)).get('span')) < 1")

    def test_nothing_is_exported_where_there_is_nothing(self):
        page = os.path.join(self.folder.name, "nothing.html")
        for words, code, said in (([self.logs[0] + "x.mbr"], 1, "no recording at "),
                                  (["--dir", self.dir, "nix/*"], 1, "no counterset matches 'nix/*'")):
            done = subprocess.run([VIEW, *words, "--export", page], capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertFalse(os.path.exists(page))

    def test_an_export_ends_when_it_is_asked_to(self):
        page = os.path.join(self.folder.name, "never.html")
        with subprocess.Popen([VIEW, "--dir", self.dir, "--export", page, "--for", "60s"], stderr=subprocess.PIPE) as export:
            time.sleep(.5)
            export.send_signal(signal.SIGTERM)
            self.assertEqual(export.wait(10), 143)
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith("never")], [])

    def test_colours_follow_the_system_and_the_switch(self):
        browser = self.browser
        with Served(self.dir) as served:
            browser.dark(True)
            browser.go(served.address())
            browser.until("document.querySelectorAll('td').length")
            colour = "getComputedStyle(document.body.parentElement).backgroundColor"
            dark = browser.run(colour)
            browser.dark(False)
            browser.until(f"{colour} !== {dark!r}")
            browser.run("document.querySelector('#theme').click()")
            browser.until(f"{colour} === {dark!r}")
            browser.run("localStorage.removeItem('meterbank-theme')")

    def test_a_phone_shows_no_wider_page_than_its_screen(self):
        browser = self.browser
        with Served(self.dir) as served:
            browser.resize(390, 844, True, 2)
            for link in ["", "screen=set&set=demo_orders", INSTANCE + "latency"]:
                browser.go(served.address(link))
                browser.until("document.querySelectorAll('td').length")
                browser.wait(0.5)
                self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 390, link)

    def test_words_of_providers_stay_text(self):
        """Names, help, labels, units and texts that are markup: live, and in an exported file."""
        browser, image = self.browser, "<img src=x onerror=\"document.title='taken'\">"
        instance = "screen=instance&set=markup&instance=" + urllib.parse.quote(image)

        def is_text(place):
            self.assertIn("meterbank", browser.run("document.title"), place)
            made = "document.images.length + document.querySelectorAll('td b, td i, td u, main script').length"
            self.assertEqual(browser.run(made), 0, place)

        with tempfile.TemporaryDirectory() as folder, \
                subprocess.Popen([MARKUP], env={**os.environ, "METERBANK_DIR": folder}, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) as provider:
            self.assertEqual(provider.stdout.readline(), b"ready\n")
            with Served(folder) as served:
                for link in ["", "screen=set&set=markup", instance, instance + "&counter=c_time"]:
                    browser.go(served.address(link))
                    browser.until("document.querySelectorAll('td').length")
                    browser.key("j")
                    browser.wait(0.5)
                    is_text(link)
                browser.until("document.querySelector('.heat')")
                self.assertIn("</script>", self.text("#content"))
                self.is_quiet(served.base)
            page = os.path.join(folder, "page.html")
            subprocess.run([VIEW, "--dir", folder, "--export", page, "--for", "1s", "-i", "200ms"], check=True,
                           capture_output=True)
            browser.go("file://" + page + "#?screen=set&set=markup")
            browser.until("document.querySelectorAll('td').length")
            browser.wait(0.5)
            is_text("an exported file")
            self.assertIn(image, self.text("#content"))

    def test_words_of_the_address_stay_text(self):
        with Served(self.dir) as served:
            self.browser.go(served.address("filter=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"))
            self.browser.until("document.querySelector('#filter').value.includes('<img')")
            # What a stream might bring, through the same functions that draw what it brings.
            self.browser.wait(0.5)
            self.assertEqual(self.browser.run("document.images.length"), 0)
            for sink in ["document.body.innerHTML = '<b>x</b>'", "document.write('<b>x</b>')", "eval('1')",
                         "setTimeout('1', 0)"]:
                refused = self.browser.run(
                    f"(() => {{ try {{ {sink}; return false; }} catch {{ return true; }} }})()")
                self.assertTrue(refused, sink)


if __name__ == "__main__":
    CLI, VIEW, MARKUP = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
