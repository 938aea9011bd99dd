# SPDX-License-Identifier: Apache-2.0
"""Makes docs/pictures/page.png of a real run: page_picture.py METERBANK METERBANK-VIEW PICTURE"""
import os
import subprocess
import sys
import tempfile

from chromium import Chromium


def main():
    cli, view, picture = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        directory = os.path.join(folder, "run")
        os.mkdir(directory, 0o700)
        demo = subprocess.Popen([cli, "demo", "--dir", directory, "-n", "0"], stdout=subprocess.DEVNULL)
        served = subprocess.Popen([view, "--dir", directory, "-i", "250ms"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            base, token = served.stdout.readline().strip().split("#")
            with Chromium() as browser:
                browser.wait(60)  # so that there is something to see
                browser.resize(1280, 1240)
                browser.go(f"{base}?screen=instance&set=demo_orders&instance=eu&counter=latency&span=60#{token}")
                browser.until("document.querySelector('.heat') && document.querySelectorAll('tbody tr').length")
                browser.wait(1)
                browser.picture(picture)
        finally:
            for process in (served, demo):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
