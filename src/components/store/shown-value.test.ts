import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { encodeEnvelope, encodeProtobuf } from "../../api/machinery/codec/protobuf/protobuf.ts";
import { schemaOf } from "../../api/schemas.ts";
import { bytesValue } from "../../store/value.ts";
import { printableChange, printableEntry, printableKey, printableValue } from "./shown-value.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a JSON value is shown as it is stored: order, numbers beyond 2^53 and spaces stay", () => {
  const text = '{"z":1, "a":9223372036854775807,"b":[1.0]}';
  equal(printableValue(bytes(text)), text);
  equal(printableValue(bytes('{\n\t"a": 1\n}\n')), '{  "a": 1 }');
});

test("a protobuf value is shown as the JSON of the same object", () => {
  const pod = { metadata: { name: "web", namespace: "default" }, spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] } };
  const raw = encodeProtobuf(pod, schemaOf("io.k8s.api.core.v1.Pod"));
  const shown = JSON.parse(printableValue(encodeEnvelope({ apiVersion: "v1", kind: "Pod", raw }))) as typeof pod & {
    readonly kind: string;
  };
  deepEqual([shown.metadata.name, shown.spec.nodeName, shown.spec.containers[0]?.image, shown.kind], ["web", "n1", "i", "Pod"]);
});

test("what is neither JSON nor a known protobuf object is shown as base64", () => {
  equal(printableValue(Uint8Array.of(0xff, 0, 1)), '{"base64":"/wAB"}');
  equal(printableValue(bytes("k8s:enc:aescbc:v1:key:...")), `{"base64":"${Buffer.from("k8s:enc:aescbc:v1:key:...").toString("base64")}"}`);
  const unknown = encodeEnvelope({ apiVersion: "example.com/v1", kind: "Thing", raw: new Uint8Array() });
  equal(printableValue(unknown), `{"base64":"${Buffer.from(unknown).toString("base64")}"}`);
  equal(printableValue(new Uint8Array()), '{"base64":""}');
});

test("no character of a key or value can control the terminal", () => {
  equal(printableKey("/pods/default/web"), "/pods/default/web");
  equal(printableKey("/pods/default/\u001b[31mred\u202e"), String.raw`"/pods/default/\u001b[31mred\u202e"`);
  equal(printableValue(bytes('{"a":"\u009b31m\u2066\u007f"}')), String.raw`{"a":"\u009b31m\u2066\u007f"}`);
  const entry = { key: "/pods/\u0007", revision: 7, value: bytesValue(bytes("1")) };
  equal(printableEntry(entry), String.raw`{"key":"/pods/\u0007","revision":7,"value":1}`);
  equal(
    printableChange({ type: "delete", key: "/pods/a", revision: 8, previous: entry }),
    '{"type":"delete","key":"/pods/a","revision":8}',
  );
});
