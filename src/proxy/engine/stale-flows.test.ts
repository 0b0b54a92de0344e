import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aModel, aServicePort } from "../testing/models.ts";
import { staleFlows, udpChanged, udpPorts } from "./stale-flows.ts";

const dns = (endpoints: readonly string[], more = {}) =>
  aServicePort({ name: "dns", portName: "dns", protocol: "UDP", port: 53, clusterIp: "10.96.0.10", endpoints, ...more });

function flow(destination: string, reply: string) {
  const parse = (text: string): [string, number] => [text.slice(0, text.lastIndexOf(":")), Number(text.slice(text.lastIndexOf(":") + 1))];
  const [[to, destinationPort], [replySource, replySourcePort]] = [parse(destination), parse(reply)];
  return { destination: to, destinationPort, replySource, replySourcePort };
}

describe("a UDP flow is stale", () => {
  const now = aModel([dns(["10.244.0.5:53"], { nodePort: 30_053, externalIps: ["192.0.2.9"] })], { nodeIps: ["192.0.2.1"] });
  const before = aModel([dns(["10.244.0.5:53"]), dns(["10.244.0.6:53"], { key: "old", clusterIp: "10.96.0.99" })]);
  for (const { it: title, to, from, is } of [
    { it: "not if a serving endpoint answers", to: "10.96.0.10:53", from: "10.244.0.5:53", is: false },
    { it: "if a deleted endpoint should answer", to: "10.96.0.10:53", from: "10.244.0.6:53", is: true },
    { it: "if it was not translated: there was no endpoint", to: "10.96.0.10:53", from: "10.96.0.10:53", is: true },
    { it: "not if it is to another port", to: "10.96.0.10:54", from: "10.244.0.6:53", is: false },
    { it: "if it is to a deleted endpoint by an external IP", to: "192.0.2.9:53", from: "10.244.0.6:53", is: true },
    { it: "if it is to a deleted endpoint by a node port", to: "127.0.0.1:30053", from: "10.244.0.6:53", is: true },
    { it: "if it is to a node port that had no endpoint", to: "192.0.2.1:30053", from: "192.0.2.1:30053", is: true },
    { it: "not if it is to the same port of another machine", to: "198.51.100.1:30053", from: "198.51.100.1:30053", is: false },
    { it: "if its Service was deleted", to: "10.96.0.99:53", from: "10.244.0.6:53", is: true },
    { it: "not if it is to something else", to: "198.51.100.1:53", from: "198.51.100.1:53", is: false },
  ]) {
    it(title, () => assert.equal(staleFlows([flow(to, from)], udpPorts(before, 4), now, 4).length, is ? 1 : 0));
  }

  it("and is returned once, however many clients have it", () => {
    const one = flow("10.96.0.10:53", "10.244.0.6:53");
    assert.deepEqual(staleFlows([one, { ...one }], udpPorts(before, 4), now, 4), [one]);
  });
});

it("flows are read only if a UDP service port of the family changed", () => {
  const [tcp, udp] = [aServicePort(), dns(["10.244.0.5:53"])];
  const model = aModel([tcp, udp]);
  assert.equal(udpChanged(undefined, aModel([tcp]), 4), false);
  assert.equal(udpChanged(undefined, model, 4), true);
  assert.equal(udpChanged(undefined, model, 6), false);
  assert.equal(udpChanged(model, aModel([{ ...tcp }, udp]), 4), false);
  assert.equal(udpChanged(model, aModel([tcp, { ...udp }]), 4), true);
  assert.equal(udpChanged(model, aModel([tcp]), 4), true);
});
