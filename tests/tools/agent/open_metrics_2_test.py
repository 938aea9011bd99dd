#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the parser of the tests takes the examples of OpenMetrics 2.0, and nothing else.

usage: open_metrics_2_test.py
"""

import sys

from open_metrics_2 import NotOpenMetrics, parse

EXAMPLES = """# TYPE acme_router_seconds summary
# UNIT acme_router_seconds seconds
# HELP acme_router_seconds Latency of ACME's \\"router\\".
acme_router_seconds{path="/api/v1",method="GET"} {count:807283,sum:9036.32,quantile:[0.95:2,0.99:20]} st@1605281325.0
acme_router_seconds{path="/api/v2",method="GET"} {count:34,sum:479.3,quantile:[]} st@1605301325.0
# TYPE go_goroutines gauge
go_goroutines 69
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 4.20072246e+06
# TYPE acme_request_seconds histogram
acme_request_seconds{path="a\\nb"} {count:2,sum:1.2e2,schema:0,zero_threshold:1e-4,zero_count:0,positive_spans:[1:2],positive_buckets:[1,1],bucket:[0.5:1,1:2,+Inf:2]} st@1605301325.0
# EOF
"""
WRONG = ("go_goroutines 69",  # no end
         "# EOF\n\n",
         "a 1\nb 2\na 3\n# EOF",  # interleaved
         "a 1\na 2\n# EOF",  # the same series twice
         "# TYPE a counter\n# TYPE a gauge\na 1\n# EOF",
         "# TYPE a thing\na 1\n# EOF",
         "# comment\na 1\n# EOF",
         "# TYPE a gauge\na {count:1,sum:1,bucket:[+Inf:1]}\n# EOF",
         "# TYPE a gauge\na 1 st@5\n# EOF",
         "# TYPE a histogram\na {count:1,sum:1}\n# EOF",  # no buckets
         "# TYPE a histogram\na {count:1, sum:1,bucket:[+Inf:1]}\n# EOF",
         "# TYPE a histogram\na {sum:1,count:1,bucket:[+Inf:1]}\n# EOF",
         "# TYPE a histogram\na {count:2,sum:1,bucket:[+Inf:1]}\n# EOF",
         "# TYPE a histogram\na {count:1,sum:1,bucket:[1:1]}\n# EOF",
         "# TYPE a histogram\na {count:1,sum:1,schema:9,zero_threshold:0,zero_count:1}\n# EOF",
         "# TYPE a histogram\na {count:2,sum:1,schema:0,zero_threshold:0,zero_count:1}\n# EOF",
         "# TYPE a histogram\na {count:1,sum:1,schema:0,zero_threshold:0,zero_count:0,"
         "positive_spans:[0:2],positive_buckets:[1]}\n# EOF",
         "# TYPE a histogram\na {count:1,sum:1,schema:0,zero_threshold:0,zero_count:0,"
         "positive_spans:[0:0],positive_buckets:[1]}\n# EOF",
         "# TYPE a info\na{x=\"y\"} 1\n# EOF",
         "a{x=\"y} 1\n# EOF",
         "a{x=\"y\"}1\n# EOF",
         "a 1  \n# EOF")


def main():
    families = parse(EXAMPLES)
    histogram = families["acme_request_seconds"][1][0]
    assert histogram[0] == {"path": "a\nb"} and histogram[2] == 1605301325.0, histogram
    assert histogram[1]["native"] == [(2.0, 1.0), (4.0, 1.0)], histogram
    assert histogram[1]["classic"] == [(0.5, 1.0), (1.0, 2.0), (float("inf"), 2.0)], histogram
    assert families["acme_router_seconds"][1][1][1] == {"count": 34.0, "sum": 479.3}, families
    for text in WRONG:
        try:
            parse(text)
        except NotOpenMetrics:
            continue
        sys.exit(f"FAILED: taken for OpenMetrics 2.0: {text!r}")
    print(f"takes the examples and refuses {len(WRONG)} texts that are wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
