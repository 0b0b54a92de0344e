import assert from "node:assert/strict";
import { it } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { CommandError } from "../../host/network/network-namespace.ts";
import { aModel, aServicePort } from "../testing/models.ts";
import { Conntrack, parseFlows } from "./conntrack.ts";

const LISTED = `udp      17 29 src=10.244.0.9 dst=10.96.0.10 sport=41000 dport=53 src=10.244.0.5 dst=10.244.0.9 sport=53 dport=41000 [ASSURED] mark=0 use=1
udp      17 11 src=10.244.0.9 dst=10.96.0.10 sport=41001 dport=53 [UNREPLIED] src=10.96.0.10 dst=10.244.0.9 sport=53 dport=41001 mark=0 use=1
udp      17 11 src=fd00:0:0:0::9 dst=fd96::0010 sport=1 dport=53 packets=1 bytes=64 src=fd00::5 dst=fd00::9 sport=5353 dport=1 packets=0 bytes=0 mark=0 use=1
conntrack v1.4.7 (conntrack-tools): 3 flow entries have been shown.
`;

const MODEL = aModel([aServicePort({ name: "dns", protocol: "UDP", port: 53, clusterIp: "10.96.0.10", endpoints: ["10.244.0.5:53"] })]);

function given(run: (words: readonly string[]) => string) {
  const calls: string[] = [];
  const warnings: string[] = [];
  const namespace = {
    name: "test",
    run: async (command: string, words: readonly string[]) => {
      calls.push([command, ...words].join(" "));
      return run(words);
    },
  };
  return { calls, warnings, conntrack: new Conntrack({ namespace, log: silentLogger, warn: (text) => void warnings.push(text) }) };
}

it("parses flows of conntrack -L, whatever stands between the two directions", () => {
  assert.deepEqual(parseFlows(LISTED), [
    { destination: "10.96.0.10", destinationPort: 53, replySource: "10.244.0.5", replySourcePort: 53 },
    { destination: "10.96.0.10", destinationPort: 53, replySource: "10.96.0.10", replySourcePort: 53 },
    { destination: "fd96::10", destinationPort: 53, replySource: "fd00::5", replySourcePort: 5353 },
  ]);
});

it("stale flows are deleted by destination and endpoint, also if they end meanwhile", async () => {
  const { calls, conntrack, warnings } = given((words) => {
    if (words[0] === "-L") return LISTED;
    throw new CommandError("0 flow entries have been deleted", { exitCode: 1 });
  });

  assert.equal(await conntrack.cleanUp(MODEL), 1);

  assert.deepEqual(calls, [
    "conntrack -L -f ipv4 -p udp",
    "conntrack -D -f ipv4 -p udp --orig-dst 10.96.0.10 --orig-port-dst 53 --reply-src 10.96.0.10 --reply-port-src 53",
  ]);
  assert.deepEqual(warnings, []);
});

it("a missing conntrack program is reported once and not tried again", async () => {
  const { calls, conntrack, warnings } = given(() => {
    throw new CommandError("Cannot run conntrack", { isMissing: true });
  });

  await conntrack.cleanUp(MODEL);
  await conntrack.cleanUp(MODEL);

  assert.equal(calls.length, 1);
  assert.match(warnings.join("\n"), /^UDP clients .* install the package conntrack$/);
});

it("after a failure the flows of all models since are cleaned up by the next attempt", async () => {
  let isBroken = false;
  const flow = (to: string, from: string) =>
    `udp 17 29 src=10.244.0.9 dst=${to} sport=41000 dport=53 src=${from} dst=10.244.0.9 sport=53 dport=41000`;
  const { calls, conntrack, warnings } = given((words) => {
    if (isBroken) throw new CommandError("Operation not permitted", { exitCode: 2 });
    return words[0] === "-L" ? [flow("10.96.0.10", "10.244.0.5"), flow("10.96.0.11", "10.244.0.6")].join("\n") : "";
  });
  const other = aServicePort({ name: "other", protocol: "UDP", port: 53, clusterIp: "10.96.0.11", endpoints: ["10.244.0.6:53"] });
  await conntrack.cleanUp(MODEL);
  assert.equal(conntrack.isPending, false);

  isBroken = true;
  assert.equal(await conntrack.cleanUp(aModel([other])), 0);
  assert.equal(await conntrack.cleanUp(aModel([])), 0);
  assert.equal(conntrack.isPending, true);
  isBroken = false;
  calls.length = 0;

  assert.equal(await conntrack.cleanUp(aModel([])), 2);
  assert.equal(conntrack.isPending, false);
  assert.deepEqual(
    calls.map((call) => /--orig-dst (\S+)/.exec(call)?.[1] ?? call),
    ["conntrack -L -f ipv4 -p udp", "10.96.0.10", "10.96.0.11"],
  );
  assert.deepEqual(warnings, []);
});
