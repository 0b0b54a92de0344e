import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { computeModel } from "../../compute/compute-model.ts";
import { aNamespace, aPod, aPolicy } from "../../testing/objects.ts";
import { policyRules, withoutRanges } from "./policy-rules.ts";

test("withoutRanges covers a block except the given ranges", () => {
  deepEqual(withoutRanges("10.0.0.0/8", []), ["10.0.0.0/8"]);
  deepEqual(withoutRanges("10.0.0.0/30", ["10.0.0.1/32"]), ["10.0.0.0/32", "10.0.0.2/31"]);
  deepEqual(withoutRanges("10.0.0.0/24", ["10.0.0.0/25", "10.0.0.192/26"]), ["10.0.0.128/26"]);
  deepEqual(withoutRanges("10.0.0.0/24", ["10.0.0.0/16"]), []);
});

test("an isolated Pod has a chain of what its policies allow, which ends with DROP", () => {
  const pods = [aPod("x/db", ["10.0.0.1"], { labels: { app: "db" } }), aPod("x/web", ["10.0.0.2"], { labels: { app: "web" } })];
  const policy = aPolicy("x/db", {
    podSelector: { matchLabels: { app: "db" } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: "web" } } }], ports: [{ port: 5432, endPort: 5433 }] }],
  });
  const model = computeModel({ nodeName: "node-1", policies: [policy], pods, namespaces: [aNamespace("x")] });
  const { chains } = policyRules(model, { owner: "a1", podCidrs: ["10.0.0.0/24"] }, 4);
  deepEqual(
    [...chains].map(([name, rules]) => [
      name.replace(/-I[0-9a-f]{10}$/, "-I…"),
      rules.map((rule) => rule.replace(/-I[0-9a-f]{10}$/, "-I…")),
    ]),
    [
      ["K8TS-a1-NP-I…", ["-p tcp -m conntrack --ctorigsrc 10.0.0.2 --ctreplsrcport 5432:5433 -j RETURN", "-j DROP"]],
      ["K8TS-a1-NP-GC", ["-m conntrack --ctorigsrc 10.0.0.1 -j RETURN", "-m conntrack --ctorigsrc 10.0.0.2 -j RETURN", "-j DROP"]],
      ["K8TS-a1-NP-GS", ["-m conntrack --ctreplsrc 10.0.0.1 -j RETURN", "-m conntrack --ctreplsrc 10.0.0.2 -j RETURN", "-j DROP"]],
      [
        "K8TS-a1-NP",
        [
          "-p icmp -m conntrack --ctstate RELATED -j RETURN",
          "-m conntrack --ctorigsrc 10.0.0.0/24 -j K8TS-a1-NP-GC",
          "-m conntrack --ctreplsrc 10.0.0.0/24 -j K8TS-a1-NP-GS",
          "-s 10.0.0.1/32 -m conntrack --ctstate INVALID,UNTRACKED -j DROP",
          "-d 10.0.0.1/32 -m conntrack --ctstate INVALID,UNTRACKED -j DROP",
          "-m conntrack --ctorigsrc 10.0.0.1 --ctreplsrc 10.0.0.1 -j RETURN",
          "-m conntrack --ctreplsrc 10.0.0.1 -j K8TS-a1-NP-I…",
        ],
      ],
    ],
  );
});
