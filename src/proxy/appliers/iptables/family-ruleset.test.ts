import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ServicePort } from "../../model.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { ChainNames } from "./chain-names.ts";
import { FamilyRuleset } from "./family-ruleset.ts";
import { canariesOf, hooksOf, recordedRouteLocalnet, servesLoopback } from "./fixed-chains.ts";
import { checkInput, countChanges, restoreInputs } from "./restore-input.ts";
import { comment, oneIn } from "./rule-text.ts";
import { parseSavedRules } from "./saved-rules.ts";

const names = new ChainNames("k8ts1");
const WEB = aServicePort({ endpoints: ["10.244.0.5:8080"] });
const DNS = aServicePort({ name: "dns", clusterIp: "10.96.0.11", endpoints: ["10.244.0.6:8080"] });
const FAR = aServicePort({ name: "far", clusterIp: "10.111.0.11", endpoints: ["10.244.0.6:8080"] });

function rulesetOf(...ports: readonly ServicePort[]): FamilyRuleset {
  const ruleset = new FamilyRuleset({ names, family: 4, masqueradesAll: false });
  ruleset.update(aModel(ports));
  return ruleset;
}

/** "svc", or "-idx" if it is removed, sorted. */
function kindsOf(changes: ReadonlyMap<string, unknown>): string {
  const kinds = [...changes].map(
    ([id, rules]) => `${rules === undefined ? "-" : ""}${id.replace(/-[A-Z2-7]{16}$/, "").split("k8ts1-")[1]}`,
  );
  return kinds.sort().join(" ");
}

describe("chains that a change writes", () => {
  for (const [title, before, now, expected] of [
    ["nothing", [WEB], [WEB], ""],
    ["equal service ports that are new objects", [WEB], [{ ...WEB }], ""],
    ["an endpoint", [WEB, DNS], [aServicePort({ endpoints: ["10.244.0.7:8080"] }), DNS], "-sep sep svc"],
    ["one more endpoint", [WEB], [aServicePort({ endpoints: ["10.244.0.5:8080", "10.244.0.7:8080"] })], "sep svc"],
    ["a Service in a known bucket", [WEB], [WEB, DNS], "idx idx sep svc"],
    ["a Service in a new bucket", [WEB], [WEB, FAR], "idx idx proxy-cluster-ips proxy-cluster-ips sep svc"],
    ["the last Service of a bucket", [WEB, FAR], [WEB], "-idx -idx -sep -svc proxy-cluster-ips proxy-cluster-ips"],
    ["the last endpoint", [WEB], [aServicePort()], "-idx -sep -svc idx proxy-cluster-ips"],
    ["a Service of the other family", [WEB], [WEB, aServicePort({ family: 6 })], ""],
  ] as const) {
    it(title, () => assert.equal(kindsOf(rulesetOf(...before).update(aModel(now))), expected));
  }

  it("the wanted chains do not depend on how they were reached", () => {
    const ruleset = rulesetOf(FAR, WEB);
    ruleset.update(aModel([DNS, FAR]));
    ruleset.update(aModel([WEB, DNS]));

    assert.deepEqual(Object.fromEntries(ruleset.chains), Object.fromEntries(rulesetOf(WEB, DNS).chains));
  });

  it("new settings write the fixed chains and those of Services that they affect", () => {
    const changes = rulesetOf(WEB).update(aModel([WEB], { podCidrs: ["10.244.0.0/16"] }));

    assert.equal(kindsOf(changes), "proxy-mark-outside svc");
  });

  it("a new health check writes one fixed chain and translates no Service again", () => {
    const translated: string[] = [];
    const watched = {
      ...WEB,
      get displayName() {
        translated.push("web");
        return WEB.displayName;
      },
    };
    const ruleset = rulesetOf(watched);
    translated.length = 0;

    const healthChecks = [{ namespace: "default", name: "lb", port: 31_000, localEndpoints: 1 }];
    assert.equal(kindsOf(ruleset.update(aModel([watched], { healthChecks }))), "proxy-input");
    assert.equal(kindsOf(ruleset.update(aModel([watched], { healthChecks: [{ ...healthChecks[0]!, localEndpoints: 2 }] }))), "");
    assert.deepEqual(translated, []);
  });

  it("ports of a Service share one rule for its other ports, after those without endpoints of all Services", () => {
    const ruleset = rulesetOf(aServicePort({ portName: "a" }), aServicePort({ portName: "b", port: 81 }), {
      ...DNS,
      clusterEndpoints: [],
      hasEndpoints: false,
    });
    const bucket = [...ruleset.chains].find(([id]) => id.startsWith("filter k8ts1-idx-"))?.[1] ?? [];

    assert.deepEqual(
      bucket.map((rule) => /"(.*)"/.exec(rule)?.[1]),
      [
        "default/dns:http has no endpoints",
        "default/web:a has no endpoints",
        "default/web:b has no endpoints",
        "default/dns has no such port",
        "default/web has no such port",
      ],
    );
  });

  it("IPv6 without service ports has no chains", () => {
    const ruleset = new FamilyRuleset({ names, family: 6, masqueradesAll: false });
    assert.equal(ruleset.update(aModel([WEB])).size, 0);
    ruleset.update(aModel([aServicePort({ family: 6 })]));
    ruleset.update(aModel([WEB]));
    assert.equal(ruleset.chains.size, 0);
  });
});

it("names of chains fit into the kernel's 28 characters, are stable and recognized", () => {
  const longest = new ChainNames("k8ts12");
  const name = longest.hashed("svc", "default/web:http/TCP/4");
  assert.equal(name, "k8ts12-svc-NE2XMISMY6QVMTRR");
  assert.equal(name.length <= 28, true);
  assert.deepEqual(
    [name, longest.fixed("cluster-ips"), "k8ts1-svc-AAAAAAAAAAAAAAAA", "k8ts12-policy", "KUBE-SERVICES"].map((one) => longest.isOwn(one)),
    [true, true, false, false, false],
  );
});

describe("input of iptables-restore", () => {
  const hooks = hooksOf(names).slice(0, 1);

  it("is empty without changes", () => {
    assert.deepEqual(restoreInputs({ chains: new Map(), insert: [], delete: [] }, { linesMax: 100 }), []);
  });

  it("declares chains, writes rules, changes the built-in chains, then removes chains, per table", () => {
    const chains = new Map([
      ["filter k8ts1-proxy-input", ["-j ACCEPT"]],
      ["nat k8ts1-svc-B", ["-j k8ts1-sep-A"]],
      ["nat k8ts1-sep-A", ["-j RETURN"]],
      ["nat k8ts1-sep-C", undefined],
    ] as const);
    const expected = [
      ["*nat", ":k8ts1-sep-A - [0:0]", ":k8ts1-svc-B - [0:0]", ":k8ts1-sep-C - [0:0]"],
      ["-A k8ts1-sep-A -j RETURN", "-A k8ts1-svc-B -j k8ts1-sep-A"],
      [`-I PREROUTING -m comment --comment "k8ts service proxy" -j k8ts1-proxy-prerouting`, "-X k8ts1-sep-C", "COMMIT"],
      ["*filter", ":k8ts1-proxy-input - [0:0]", "-A k8ts1-proxy-input -j ACCEPT", "COMMIT", ""],
    ];

    const changes = { chains: new Map(chains), insert: hooks, delete: [] };
    assert.deepEqual(restoreInputs(changes, { linesMax: 100 }), [expected.flat().join("\n")]);
    assert.equal(countChanges(changes), 5);
  });

  it("is split so that referred chains come first and are removed last", () => {
    const chains = new Map([
      ["nat k8ts1-idx-A", ["-j k8ts1-svc-A"]],
      ["nat k8ts1-svc-A", ["-j k8ts1-sep-A"]],
      ["nat k8ts1-sep-A", []],
      ["nat k8ts1-sep-B", undefined],
      ["nat k8ts1-svc-B", undefined],
    ] as const);

    const inputs = restoreInputs({ chains: new Map(chains), insert: hooks, delete: [] }, { linesMax: 2 });

    const shown = inputs.map((input) => input.match(/^:\S+|^-[IX] \S+/gm)?.join(" "));
    assert.deepEqual(shown, [
      ":k8ts1-sep-A",
      ":k8ts1-svc-A",
      ":k8ts1-idx-A :k8ts1-svc-B -I PREROUTING -X k8ts1-svc-B",
      ":k8ts1-sep-B -X k8ts1-sep-B",
    ]);
  });

  it("checks rules without changing them", () => {
    const text = checkInput([...hooks, ...canariesOf(names)]);
    assert.match(text, /^\*nat\n-C PREROUTING .*\n-C k8ts1-proxy-canary .*\nCOMMIT\n\*filter\n-C k8ts1-proxy-canary .*\nCOMMIT\n$/);
  });
});

it("saved rules are reduced to own chains and the rules that jump to them", () => {
  const saved = [
    "# Generated by iptables-save",
    "*mangle",
    ":k8ts1-proxy-input - [0:0]",
    "COMMIT",
    "*nat",
    ":PREROUTING ACCEPT [0:0]",
    ":DOCKER - [0:0]",
    ":k8ts1-proxy-mark - [0:0]",
    ":k8ts1-proxy-prerouting - [3:180]",
    "-A PREROUTING -j DOCKER",
    `-A PREROUTING -m comment --comment "k8ts service proxy" -j k8ts1-proxy-prerouting`,
    "-A DOCKER -i docker0 -j RETURN",
    "-A k8ts1-proxy-mark -j MARK --set-xmark 0x4000/0x4000",
    "COMMIT",
  ];

  assert.deepEqual(parseSavedRules(saved.join("\n"), names), {
    chains: new Map([
      ["nat k8ts1-proxy-mark", ["-j MARK --set-xmark 0x4000/0x4000"]],
      ["nat k8ts1-proxy-prerouting", []],
    ]),
    hooks: hooksOf(names).slice(0, 1),
  });
});

describe("texts of rules", () => {
  for (const [text, expected] of [
    ["masquerade", "masquerade"],
    ["default/web -> 10.0.0.1:80", `"default/web -> 10.0.0.1:80"`],
    [`a "quoted" one`, String.raw`"a \"quoted\" one"`],
    ["x".repeat(300), "x".repeat(255)],
  ] as const) {
    it(`comment ${text.slice(0, 30)}`, () => assert.equal(comment(text), `-m comment --comment ${expected}`));
  }

  for (const [of, expected] of [
    [2, "0.50000000000"],
    [3, "0.33333333349"],
    [10, "0.10000000009"],
  ] as const) {
    it(`probability of one in ${of}`, () => assert.equal(oneIn(of), `-m statistic --mode random --probability ${expected}`));
  }

  for (const [addresses, expected] of [
    [["0.0.0.0/0", "::/0"], true],
    [["127.0.0.1/32"], true],
    [["192.0.2.0/24", "::/0"], false],
  ] as const) {
    it(`node ports on ${addresses.join(" and ")}`, () => assert.equal(servesLoopback(addresses), expected));
  }

  it("the value of route_localnet is found in its record", () => {
    assert.equal(recordedRouteLocalnet(`-m comment --comment "…; route_localnet was 0"`), "0");
    assert.equal(recordedRouteLocalnet("-j RETURN"), undefined);
  });
});
