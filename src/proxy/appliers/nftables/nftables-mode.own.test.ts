import { needs } from "../../../testing/needs.ts";
import { trafficSuite } from "../../testing/traffic-suite.ts";
import { nftables } from "./nftables-mode.ts";

trafficSuite(nftables, {
  skip: needs("nftables").skip,
  cannot: { "node port on loopback": "as upstream's mode: it would need route_localnet" },
  ruleset: {
    list: [["nft", "-s", "list", "ruleset"]],
    addForeign: [
      ["nft", "add table ip foreign"],
      ["nft", "add chain ip foreign prerouting { type nat hook prerouting priority dstnat; }"],
      ["nft", "add rule ip foreign prerouting ip daddr 203.0.113.1 drop"],
    ],
    flush: [["nft", "flush ruleset"]],
    damages: [
      "nft flush chain ip k8ts-ktest-proxy nat-output",
      "nft flush map ip k8ts-ktest-proxy node-ports",
      "nft flush set ip k8ts-ktest-proxy service-ips",
      "nft delete chain ip k8ts-ktest-proxy filter-input",
    ],
  },
});
