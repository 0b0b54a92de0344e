import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { schemaOf } from "../../../api/schemas.ts";
import { decodeOptions } from "./options.ts";

function decoded(kind: string, query: string): JsonObject {
  const schema = schemaOf(`io.k8s.api.core.v1.${kind}`);
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...options
  } = decodeOptions({ group: "", version: "v1", kind }, schema, new URLSearchParams(query));
  return options;
}

const read: readonly { readonly kind: string; readonly query: string; readonly options: JsonObject }[] = [
  { kind: "PodExecOptions", query: "", options: {} },
  {
    kind: "PodExecOptions",
    query: "command=sh&command=-c&command=a%26b&container=web&stdin=true&tty=1&stdout=yes&stderr",
    options: { command: ["sh", "-c", "a&b"], container: "web", stdin: true, tty: true, stdout: true, stderr: true },
  },
  // Go cannot distinguish these from absent ones.
  { kind: "PodExecOptions", query: "stdin=false&tty=0&stdout=FALSE&container=", options: {} },
  { kind: "PodExecOptions", query: "container=a&container=b&unknown=1&kind=Pod&apiVersion=v2", options: { container: "a" } },
  { kind: "PodPortForwardOptions", query: "ports=80&ports=81,0,65535", options: { ports: [80, 81, 0, 65_535] } },
  {
    kind: "PodLogOptions",
    query: "tailLines=0&limitBytes=-5&sinceSeconds=%2B7",
    options: { tailLines: 0, limitBytes: -5, sinceSeconds: 7 },
  },
  { kind: "PodLogOptions", query: "limitBytes=9223372036854775807", options: { limitBytes: 9_223_372_036_854_775_807n } },
  { kind: "PodLogOptions", query: "sinceTime=2020-01-01T01:00:00.5%2B01:00", options: { sinceTime: "2020-01-01T00:00:00Z" } },
  { kind: "PodLogOptions", query: "sinceTime=", options: { sinceTime: "0001-01-01T00:00:00Z" } },
  { kind: "PodLogOptions", query: "sinceTime=null", options: { sinceTime: "0001-01-01T00:00:00Z" } },
  { kind: "PodProxyOptions", query: "path=/a/b", options: { path: "/a/b" } },
];

for (const { kind, query, options } of read) {
  test(`the query "${query}" is decoded as ${kind}`, () => {
    deepEqual(decoded(kind, query), options);
  });
}

test("decoded connection options have apiVersion and kind", () => {
  const { kind, apiVersion } = decodeOptions(
    { group: "", version: "v1", kind: "PodExecOptions" },
    schemaOf("io.k8s.api.core.v1.PodExecOptions"),
    new URLSearchParams(),
  );
  deepEqual({ kind, apiVersion }, { kind: "PodExecOptions", apiVersion: "v1" });
});

const refused: readonly { readonly kind: string; readonly query: string; readonly message: string }[] = [
  { kind: "PodLogOptions", query: "tailLines=x", message: 'strconv.ParseInt: parsing "x": invalid syntax' },
  { kind: "PodLogOptions", query: "tailLines=", message: 'strconv.ParseInt: parsing "": invalid syntax' },
  { kind: "PodLogOptions", query: "tailLines=+5", message: 'strconv.ParseInt: parsing " 5": invalid syntax' },
  {
    kind: "PodLogOptions",
    query: "tailLines=9223372036854775808",
    message: 'strconv.ParseInt: parsing "9223372036854775808": value out of range',
  },
  {
    kind: "PodLogOptions",
    query: "sinceTime=2020-01-01",
    message: 'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
  },
  {
    kind: "PodPortForwardOptions",
    query: "ports=80,x",
    message: 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    kind: "PodPortForwardOptions",
    query: "ports=65536",
    message: 'cannot convert to []int32: strconv.ParseUint: parsing "65536": value out of range',
  },
  {
    kind: "PodPortForwardOptions",
    query: "ports=-1",
    message: 'cannot convert to []int32: strconv.ParseUint: parsing "-1": invalid syntax',
  },
];

for (const { kind, query, message } of refused) {
  test(`the query "${query}" is rejected as ${kind}`, () => {
    throws(() => decoded(kind, query), { reason: "BadRequest", message });
  });
}
