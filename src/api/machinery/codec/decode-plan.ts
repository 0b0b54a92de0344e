/**
 * Decoding plan of a schema, arranged so that the walk over a value needs one lookup per member. Computed on first use and cached with the
 * schema; parts are computed lazily, since schemas may be recursive.
 */
import type { Json } from "../object.ts";
import type { ChoiceSchema, Field, ObjectSchema, Schema } from "../schema.ts";

export type Plan = ObjectPlan | ListPlan | MapPlan | ChoicePlan | ScalarPlan;

export type ScalarForm =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "number"
  | "bytes"
  | "time"
  | "micro-time"
  | "duration"
  | "quantity"
  | "int-or-string"
  | "any";

export interface ScalarPlan {
  readonly form: ScalarForm;
  readonly schema: Schema;
}

export class ListPlan {
  readonly form = "list";
  readonly schema: Schema;
  readonly #items: Schema;
  #plan: Plan | undefined;

  constructor(schema: Schema, items: Schema) {
    this.schema = schema;
    this.#items = items;
  }

  get items(): Plan {
    return (this.#plan ??= planOf(this.#items));
  }
}

export class MapPlan {
  readonly form = "map";
  readonly schema: Schema;
  readonly #values: Schema;
  #plan: Plan | undefined;

  constructor(schema: Schema, values: Schema) {
    this.schema = schema;
    this.#values = values;
  }

  get values(): Plan {
    return (this.#plan ??= planOf(this.#values));
  }
}

export class ChoicePlan {
  readonly form = "choice";
  readonly schema: ChoiceSchema;
  #message: ObjectPlan | undefined;

  constructor(schema: ChoiceSchema) {
    this.schema = schema;
  }

  /** Plan for objects. */
  get object(): Plan {
    return this.#planOf(this.schema.objectField);
  }

  /** Plan for other values. */
  get other(): Plan {
    return this.#planOf(this.schema.otherField);
  }

  #planOf(name: string): Plan {
    this.#message ??= new ObjectPlan(this.schema.message);
    const field = this.#message.fields.get(name);
    if (field === undefined) throw new Error(`The choice ${this.schema.message.name} has no field ${JSON.stringify(name)}`);
    return field.plan;
  }
}

export class ObjectPlan {
  readonly form = "object";
  readonly schema: ObjectSchema;
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** Members that every object has, given or not. */
  readonly written: readonly FieldPlan[];
  readonly preservesUnknown: boolean;

  constructor(schema: ObjectSchema) {
    this.schema = schema;
    this.fields = new Map([...schema.fields].map(([name, field]) => [name, new FieldPlan(name, field)]));
    this.written = [...this.fields.values()].filter((field) => field.zero === "write" && hasWrittenZero(field.schema));
    this.preservesUnknown = schema.preserveUnknownFields === true;
  }
}

export class FieldPlan {
  readonly name: string;
  readonly zero: Field["zero"];
  readonly isWritten: boolean;
  readonly #field: Field;
  #plan: Plan | undefined;

  constructor(name: string, field: Field) {
    this.name = name;
    this.zero = field.zero;
    this.#field = field;
    this.isWritten = field.zero === "write" && hasWrittenZero(field.schema);
  }

  get schema(): Schema {
    return this.#field.schema;
  }

  get plan(): Plan {
    return (this.#plan ??= planOf(this.#field.schema));
  }
}

/** An absent list or map stays absent. */
function hasWrittenZero({ type }: Schema): boolean {
  return type !== "list" && type !== "map";
}

const plans = new WeakMap<Schema, Plan>();

export function planOf(schema: Schema): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = makePlan(schema);
    plans.set(schema, plan);
  }
  return plan;
}

function makePlan(schema: Schema): Plan {
  switch (schema.type) {
    case "object":
      return new ObjectPlan(schema);
    case "list":
      return new ListPlan(schema, schema.items);
    case "map":
      return new MapPlan(schema, schema.values);
    case "any":
      return schema.format === "choice" ? new ChoicePlan(schema) : { form: "any", schema };
    case "boolean":
    case "number":
      return { form: schema.type, schema };
    case "integer":
      return { form: schema.format === "int32" ? "int32" : "int64", schema };
    case "string":
      return { form: formOfString(schema.format), schema };
  }
}

function formOfString(format: string | undefined): ScalarForm {
  switch (format) {
    case "byte":
      return "bytes";
    case "date-time":
      return "time";
    case "micro-time":
    case "duration":
    case "quantity":
    case "int-or-string":
      return format;
    default:
      return "string";
  }
}

/** JSON of Go's zero value. Objects are created once, frozen, and shared. */
export function writtenZero(plan: Plan): Json {
  switch (plan.form) {
    case "string":
      return "";
    case "boolean":
      return false;
    case "int32":
    case "int64":
    case "number":
    case "int-or-string":
      return 0;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "object":
      return zeroObject(plan);
    case "bytes":
    case "time":
    case "micro-time":
    case "any":
    case "choice":
    case "list":
    case "map":
      return null;
  }
}

const zeroObjects = new WeakMap<ObjectPlan, Json>();

function zeroObject(plan: ObjectPlan): Json {
  let zero = zeroObjects.get(plan);
  if (zero === undefined) {
    zero = Object.freeze(Object.fromEntries(plan.written.map((field) => [field.name, writtenZero(field.plan)])));
    zeroObjects.set(plan, zero);
  }
  return zero;
}

/** "0001-01-01T00:00:00Z", with or without a fraction of zeros: Go's zero time. */
const ZERO_TIME = "0001-01-01T00:00:00";

/** True if a decoded value is the zero value of its type. */
export function isZero(value: Json, plan: Plan): boolean {
  switch (plan.form) {
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "map":
      return isEmpty(value as object);
    case "object":
      return isZeroObject(value as Readonly<Record<string, Json>>, plan);
    case "quantity":
      return value === "0";
    case "duration":
      return value === "0s";
    case "time":
    case "micro-time":
      return typeof value === "string" && value.startsWith(ZERO_TIME);
    case "any":
    case "choice":
      return value === null;
    case "string":
    case "boolean":
    case "int32":
    case "int64":
    case "number":
    case "bytes":
    case "int-or-string":
      return value === "" || value === 0 || value === false;
  }
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false;
  return true;
}

function isZeroObject(object: Readonly<Record<string, Json>>, plan: ObjectPlan): boolean {
  for (const key in object) {
    const field = plan.fields.get(key);
    const member = object[key] ?? null;
    if (field === undefined || !field.isWritten) return false;
    if (member !== null && !isZero(member, field.plan)) return false;
  }
  return true;
}
