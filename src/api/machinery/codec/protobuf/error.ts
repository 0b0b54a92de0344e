/** What goes wrong with protobuf beyond its wire form (base/protobuf/wire.ts). */
import type { Schema } from "../../schema.ts";

/** The type has no form in protobuf: custom resources, and a few types of answers. */
export class ProtobufUnsupported extends Error {
  override readonly name = "ProtobufUnsupported";

  constructor(schema: Schema) {
    const what = schema.type === "object" ? (schema.name ?? "a custom resource") : `a ${schema.type} at this place`;
    super(`Cannot write or read ${what} as protobuf: its schema has no field numbers`);
  }
}
