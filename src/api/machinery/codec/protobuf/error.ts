/** Errors of protobuf beyond its wire format (base/protobuf/wire.ts). */
import type { Schema } from "../../schema.ts";

/** The type has no protobuf form: custom resources, and a few response types. */
export class ProtobufUnsupported extends Error {
  override readonly name = "ProtobufUnsupported";

  constructor(schema: Schema) {
    const what = schema.type === "object" ? (schema.name ?? "a custom resource") : `a ${schema.type} at this place`;
    super(`Cannot write or read ${what} as protobuf: its schema has no field numbers`);
  }
}
