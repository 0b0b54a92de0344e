import { needs } from "../../../testing/needs.ts";
import { trafficSuite } from "../../testing/traffic-suite.ts";
import { userspaceInNamespace } from "../../testing/userspace-in-namespace.ts";

const SEES_NODE = "endpoints see the node as their client, because its socket connects to them";
const RESETS = "a socket accepts before the client's address is known, and then resets instead of dropping";

trafficSuite(userspaceInNamespace, {
  skip: needs("nftables").skip,
  cannot: {
    "nothing leaves the node to a cluster IP without a Service": "it redirects addresses of Services only",
    "rules of SCTP are accepted by the kernel, beside those of other protocols": "Node has no sockets of SCTP",
    "external traffic policy Local reaches local endpoints only and preserves the client's address": SEES_NODE,
    "Pods keep their address inside the cluster; clients outside are masqueraded": SEES_NODE,
    "external traffic policy Local without a local endpoint drops external traffic, but not that of the node and its Pods": RESETS,
    "load balancer source ranges admit their clients only": RESETS,
    "a proxy that is killed at any step converges after its restart, and its clean-up leaves nothing": "sockets end with their process",
    "an unchanged model writes nothing, a change of one of many Services writes little": "the table of redirects is replaced as a whole",
    "state of an earlier process serves traffic until the mode is opened again, which adopts it and removes what is stale":
      "sockets end with their process",
  },
  ruleset: {
    list: [["nft", "list", "ruleset"]],
    addForeign: [["nft", "add", "table", "inet", "foreign"]],
    flush: [["nft", "delete", "table", "inet", "k8ts-ktest-userspace"]],
    damages: ["nft flush chain inet k8ts-ktest-userspace output", "nft delete chain inet k8ts-ktest-userspace forward-filter"],
  },
});
