/** Compares the number, the label and the type of every field of every message with the snapshot's table. */
import { readFileSync } from "node:fs";
import type { ObjectSchema, ProtobufField, Schema } from "../../src/api/machinery/schema.ts";
import { schemas } from "../../src/api/schemas.ts";
import type { Comparison } from "./comparison.ts";
import { SCALAR_NAMES } from "./scalar-names.ts";
import { findSnapshot } from "./snapshot.ts";

interface Row {
  readonly field: string;
  readonly label: string;
  readonly type: string;
}

export const protobufFields: Comparison = {
  name: "protobuf-fields",

  async compare(directory) {
    const text = readFileSync(findSnapshot(directory, "protobuf-fields"), "utf8");
    const theirs = theirMessages(text.trimEnd().split("\n"));
    const ours = new Map([...schemas.names()].flatMap((name) => ourMessage(name)));
    return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((name) => messageDifferences(name, ours.get(name), theirs.get(name)));
  },
};

/** Named list messages; our schemas mark their use without a name. */
const WRAPPED_LIST = /^\.k8s\.io\..*\.(ExtraValue|Verbs)$/;

function theirMessages(lines: readonly string[]): Map<string, Map<number, Row>> {
  const messages = new Map<string, Map<number, Row>>();
  for (const line of lines) {
    const [proto = "", message = "", field = "", number = "", label = "", type = ""] = line.split("\t");
    // Names in the same package are relative.
    const full = type.replace(/\b(?<![.\w])[A-Z]\w*/, `.${proto}.$&`).replace(/^map<string, /, "map<string,");
    const [, before = "", named = "", after = ""] = /^(map<string,)?([^>]*)(>?)$/.exec(full) ?? [];
    const row = { field, label, type: `${before}${WRAPPED_LIST.test(named) ? "a list message" : named}${after}` };
    if (!WRAPPED_LIST.test(`.${proto}.${message}`)) {
      const name = `${proto}.${message}`;
      messages.set(name, (messages.get(name) ?? new Map<number, Row>()).set(Number(number), row));
    }
  }
  return messages;
}

function messageDifferences(name: string, ours: Map<number, Row> | undefined, theirs: Map<number, Row> | undefined): string[] {
  if (ours === undefined) return [`${name}: we do not have it`];
  if (theirs === undefined) return ours.size === 0 ? [] : [`${name}: they do not have it`];
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((number) => {
    const [our, their] = [rowText(ours.get(number)), rowText(theirs.get(number))];
    return comparable(our) === comparable(their) ? [] : [`${name} ${number}: ours ${our}, theirs ${their}`];
  });
}

/** Protobuf names are derived from Go names, and differ from JSON names in case. The wire format has no names. */
function comparable(text: string): string {
  return text.toLowerCase();
}

function rowText(row: Row | undefined): string {
  return row === undefined ? "nothing" : `${row.label} ${row.type} ${row.field}`.trim();
}

function ourMessage(name: string): [string, Map<number, Row>][] {
  const schema = schemas.get(name);
  if (schema?.type !== "object" || schema.protobuf === undefined) return [];
  return [[protobufName(name), new Map(schema.protobuf.map((field) => [field.number, ourRow(schema, field)]))]];
}

function ourRow(message: ObjectSchema, numbered: ProtobufField): Row {
  if ("inlined" in numbered) {
    const short = (numbered.inlined.name ?? "").split(".").at(-1) ?? "";
    return { label: "optional", type: messageType(numbered.inlined), field: short.charAt(0).toLowerCase() + short.slice(1) };
  }
  const field = message.fields.get(numbered.field);
  if (field === undefined) throw new Error(`${message.name} has no field ${numbered.field}, and protobuf numbers it`);
  const { schema } = field;
  if (schema.type === "map") return { label: "", type: `map<string,${messageType(schema.values)}>`, field: field.name };
  const isRepeated = schema.type === "list" && schema.wrappedInProtobuf !== true;
  return { label: isRepeated ? "repeated" : "optional", type: messageType(isRepeated ? schema.items : schema), field: field.name };
}

const SCALARS: Readonly<Record<string, string>> = {
  int32: "int32",
  int64: "int64",
  double: "double",
  byte: "bytes",
};

function messageType(schema: Schema): string {
  if (schema.type === "object") return `.${protobufName(schema.name ?? "")}`;
  const named = SCALAR_NAMES.get(schema);
  if (named !== undefined) return `.${protobufName(named)}`;
  if (schema.type === "list") return "a list message";
  if (schema.type === "boolean") return "bool";
  return "format" in schema ? (SCALARS[schema.format ?? ""] ?? `${schema.type} ${schema.format}`) : schema.type;
}

/** "k8s.io.api.core.v1.Pod" of "io.k8s.api.core.v1.Pod": protobuf reverses the host, and has no hyphens. */
function protobufName(openApiName: string): string {
  return openApiName.replace(/^io\.k8s\./, "k8s.io.").replaceAll("-", "_");
}
