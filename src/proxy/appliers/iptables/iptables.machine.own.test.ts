import { needs } from "../../../testing/needs.ts";
import { trafficSuite } from "../../testing/traffic-suite.ts";
import { iptables } from "./iptables-mode.ts";

trafficSuite(iptables, {
  skip: needs("iptables").skip,
  cannot: { "nothing leaves the node to a cluster IP without a Service": "as upstream's mode" },
  ruleset: {
    list: [["iptables-save"], ["ip6tables-save"]],
    addForeign: [
      ["iptables", "-t", "nat", "-A", "POSTROUTING", "-s", "203.0.113.0/24", "-j", "MASQUERADE"],
      ["iptables", "-N", "other-proxy-input"],
      ["iptables", "-A", "INPUT", "-j", "other-proxy-input"],
      ["ip6tables", "-A", "FORWARD", "-s", "2001:db8:ffff::/48", "-j", "DROP"],
    ],
    flush: [
      ["iptables", "-t", "nat", "-F"],
      ["iptables", "-F"],
    ],
    damages: [
      // A rule of a chain, the jump of a built-in chain, and a chain with the rules that refer to it.
      "iptables -t nat -D ktest-proxy-output -j ktest-proxy-externals",
      "iptables -t filter -D FORWARD -m comment --comment 'k8ts service proxy' -j ktest-proxy-forward",
      "iptables -t nat -F $(iptables-save -t nat | sed -n 's/^:\\(ktest-sep-[^ ]*\\).*/\\1/p' | head -1)",
      "iptables -t nat -F ktest-proxy-node-ports && iptables -t nat -X $(iptables-save -t nat | grep -o '^:ktest-idx-[^ ]*' | cut -c2- | while read -r c; do iptables -t nat -F $c; iptables-save -t nat | grep -q -- \"-j $c\\$\" || echo $c; done | head -1)",
    ],
  },
});
