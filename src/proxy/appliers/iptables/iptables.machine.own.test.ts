import { needs } from "../../../testing/needs.ts";
import { trafficSuite } from "../../testing/traffic-suite.ts";
import { iptables } from "./iptables-mode.ts";

trafficSuite(iptables, {
  skip: needs("iptables").skip,
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
  },
});
