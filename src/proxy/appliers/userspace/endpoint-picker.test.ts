import assert from "node:assert/strict";
import { test } from "node:test";
import { EndpointPicker } from "./endpoint-picker.ts";

const endpoint = (address: string) => ({ address, port: 80, isLocal: false });
const [a, b, c] = [endpoint("10.0.0.1"), endpoint("10.0.0.2"), endpoint("10.0.0.3")];

function picked(picker: EndpointPicker, client: string, nowMs = 0): string {
  const [first] = picker.candidates(client, nowMs);
  if (first !== undefined) picker.connected(client, first, nowMs);
  return first?.address ?? "none";
}

test("round robin starts each client at the next endpoint and tries all others after it", () => {
  const picker = new EndpointPicker();
  picker.update([a, b, c], undefined);

  assert.deepEqual(picker.candidates("x", 0), [a, b, c]);
  assert.deepEqual(picker.candidates("x", 0), [b, c, a]);
  assert.deepEqual(picker.candidates("y", 0), [c, a, b]);
  assert.deepEqual(picker.candidates("x", 0), [a, b, c]);
});

test("without endpoints there is no candidate", () => {
  assert.deepEqual(new EndpointPicker().candidates("x", 0), []);
});

test("session affinity keeps a client at its endpoint within the timeout, which every connection renews", () => {
  const picker = new EndpointPicker();
  picker.update([a, b, c], 10);

  assert.equal(picked(picker, "x", 0), "10.0.0.1");
  assert.equal(picked(picker, "y", 0), "10.0.0.2");
  assert.equal(picked(picker, "x", 9_000), "10.0.0.1");
  assert.equal(picked(picker, "x", 18_000), "10.0.0.1");
  assert.equal(picked(picker, "x", 28_000), "10.0.0.3");
});

test("session affinity survives a change of other endpoints and ends with its own", () => {
  const picker = new EndpointPicker();
  picker.update([a, b], 10);
  assert.equal(picked(picker, "x"), "10.0.0.1");

  picker.update([c, a], 10);
  assert.equal(picked(picker, "x"), "10.0.0.1");
  picker.update([b, c], 10);
  assert.notEqual(picked(picker, "x"), "10.0.0.1");
});

test("a client that was refused by its endpoint is kept at the one that accepted it", () => {
  const picker = new EndpointPicker();
  picker.update([a, b], 10);
  picker.candidates("x", 0);
  picker.connected("x", b, 0);

  assert.deepEqual(picker.candidates("x", 1), [b, a]);
});
