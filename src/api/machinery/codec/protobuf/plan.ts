/**
 * Protobuf codec plan of a schema: precomputed tags, which values repeat, the plans of nested messages. Computed on first use and cached
 * with the schema; recursive parts are computed lazily.
 */
import { WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../../../../base/protobuf/wire.ts";
import type { Json, JsonObject } from "../../object.ts";
import type { Field, ObjectSchema, ProtobufField, Schema } from "../../schema.ts";
import { type FieldPlan, type Plan, planOf } from "../decode-plan.ts";
import { ProtobufUnsupported } from "./error.ts";

export function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType;
}

/** The tags of a map's entry: {key = 1, value = 2}. */
export const KEY_TAG = tagOf(1, WIRE_BYTES);
export const MAP_VALUE_NUMBER = 2;

const messagePlans = new WeakMap<ObjectSchema, MessagePlan>();

/** Throws ProtobufUnsupported if the type has no message. */
export function messagePlanOf(schema: ObjectSchema): MessagePlan {
  let plan = messagePlans.get(schema);
  if (plan === undefined) {
    plan = new MessagePlan(schema);
    messagePlans.set(schema, plan);
  }
  return plan;
}

export class MessagePlan {
  /** By number; undefined for unused numbers. */
  readonly byNumber: readonly (MemberPlan | undefined)[];
  /** In write order, which is from the last to the first. */
  readonly backwards: readonly MemberPlan[];
  /** Members that every object has, given or not. */
  readonly alwaysThere: readonly FieldPlan[];

  constructor(schema: ObjectSchema) {
    if (schema.protobuf === undefined) throw new ProtobufUnsupported(schema);
    const members = schema.protobuf.map((numbered) => memberPlan(numbered, schema)).filter((member) => member !== undefined);
    const byNumber: (MemberPlan | undefined)[] = Array.from({ length: 1 + Math.max(0, ...members.map(({ number }) => number)) });
    for (const member of members) byNumber[member.number] = member;
    const plan = planOf(schema);
    this.byNumber = byNumber;
    this.backwards = members.toReversed();
    this.alwaysThere = plan.form === "object" ? plan.written : [];
  }
}

/** "inlined": the members of the message are members of the enclosing object. */
export type Occurrence = "once" | "list" | "map" | "inlined";

export class MemberPlan {
  readonly number: number;
  /** Empty if it is inlined. */
  readonly name: string;
  readonly occurrence: Occurrence;
  readonly zero: Field["zero"];
  /** Plan of the field's value, of an item of its list, of a value of its map. */
  readonly value: ValuePlan;
  readonly tag: number;
  /** Bytes that are written if the member is absent. Computed by the encoder on first use. */
  absent: Uint8Array | undefined;
  /** The prototype has a member of this name, so `in` and plain reads do not work. */
  readonly #isInherited: boolean;

  constructor(number: number, occurrence: Occurrence, { name, schema, zero }: Field) {
    this.number = number;
    this.name = name;
    this.occurrence = occurrence;
    this.zero = zero;
    this.value = new ValuePlan(schema);
    this.tag = tagOf(number, occurrence === "map" ? WIRE_BYTES : this.value.wireType);
    this.absent = undefined;
    this.#isInherited = name in Object.prototype;
  }

  /** Undefined if the object does not have it. */
  of(object: JsonObject): Json | undefined {
    return this.#isInherited && !Object.hasOwn(object, this.name) ? undefined : object[this.name];
  }
}

function memberPlan(numbered: ProtobufField, { fields }: ObjectSchema): MemberPlan | undefined {
  const { number } = numbered;
  if ("inlined" in numbered) return new MemberPlan(number, "inlined", { name: "", schema: numbered.inlined, zero: "write" });
  const field = fields.get(numbered.field);
  if (field === undefined) return undefined;
  const { schema } = field;
  if (schema.type === "map") return new MemberPlan(number, "map", { ...field, schema: schema.values });
  if (schema.type === "list" && schema.wrappedInProtobuf !== true)
    return new MemberPlan(number, "list", { ...field, schema: schema.items });
  return new MemberPlan(number, "once", field);
}

/** One value with one tag. */
export class ValuePlan {
  readonly plan: Plan;
  readonly form: Plan["form"];
  readonly wireType: number;
  #message: MessagePlan | undefined;
  #items: ValuePlan | undefined;

  constructor(schema: Schema) {
    this.plan = planOf(schema);
    this.form = this.plan.form;
    this.wireType = wireTypeOf(this.plan);
  }

  /** Of an object or a union. */
  get message(): MessagePlan {
    return (this.#message ??= messagePlanOf(messageOf(this.plan.schema)));
  }

  /** Of a list that is a message of its own, with the items in field 1. */
  get items(): ValuePlan {
    if (this.plan.form !== "list") throw new ProtobufUnsupported(this.plan.schema);
    return (this.#items ??= new ValuePlan(this.plan.items.schema));
  }
}

function messageOf(schema: Schema): ObjectSchema {
  if (schema.type === "object") return schema;
  if (schema.type === "any" && schema.format === "choice") return schema.message;
  throw new ProtobufUnsupported(schema);
}

function wireTypeOf({ form }: Plan): number {
  if (form === "int32" || form === "int64" || form === "boolean") return WIRE_VARINT;
  return form === "number" ? WIRE_FIXED64 : WIRE_BYTES;
}
