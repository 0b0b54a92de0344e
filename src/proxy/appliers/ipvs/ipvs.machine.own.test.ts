import { existsSync } from "node:fs";
import { needs } from "../../../testing/needs.ts";
import { trafficSuite } from "../../testing/traffic-suite.ts";
import { ipvs } from "./ipvs-mode.ts";

trafficSuite(ipvs, {
  skip: existsSync("/proc/net/ip_vs") ? needs("iptables").skip : "this kernel has no IPVS (module ip_vs)",
  cannot: {
    "nothing leaves the node to a cluster IP without a Service": "as upstream's mode",
    "node port on loopback": "IPVS does not translate loopback addresses",
    "internal traffic policy Local reaches local endpoints only": "IPVS refuses instead of dropping without a local endpoint",
    "external traffic policy Local without a local endpoint drops external traffic, but not that of the node and its Pods":
      "IPVS applies policy Local to all clients, and refuses",
  },
  ruleset: {
    list: [["ipvsadm", "-S", "-n"], ["iptables-save"], ["ip6tables-save"], ["ipset", "save"]],
    addForeign: [["ipvsadm", "-A", "-t", "203.0.113.1:80", "-s", "rr"]],
    flush: [["ipvsadm", "-C"]],
    damages: ["ip address flush dev ktest-ipvs", "ipset flush ktest-ipvs-cip-4"],
  },
});
