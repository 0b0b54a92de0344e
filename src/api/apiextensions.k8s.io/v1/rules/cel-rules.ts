/** The rule language in the Common Expression Language, as Kubernetes has it. */
import { compileInStages } from "../../../../cel/compile.ts";
import type { CelSchema } from "../../../../cel/contract.ts";
import { createEnvironment, type Environment } from "../../../../cel/environment.ts";
import { declareSchema, withTypeAndObjectMeta } from "../../../../cel/schema/declare.ts";
import type { Declaration } from "../../../../cel/types/declaration.ts";
import { optionalOf } from "../../../../cel/types/type.ts";
import { schemaValue } from "../../../../cel/values/schema-value.ts";
import { CelError, NONE, Optional, type CelResult } from "../../../../cel/values/value.ts";
import type { Json } from "../../../machinery/object.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { RuleLanguage } from "./rule-language.ts";

/** Rules cannot rely on the name of their type; upstream generates one each time. */
const SELF_TYPE = "selfType";

interface Environments {
  plain?: Environment;
  optional?: Environment;
}

const environments = new WeakMap<Declaration, Environments>();

export const celRules: RuleLanguage = {
  declare: (schema, isResource) => declareSchema(celSchema(schema), { name: SELF_TYPE, isResourceRoot: isResource }),
  compile: (self, source, { optionalOldSelf }) => compileInStages(environmentOf(self, optionalOldSelf), source),
  bind({ schema, isResource, value, previous }, { optionalOldSelf }) {
    const full = isResource ? withTypeAndObjectMeta(celSchema(schema)) : celSchema(schema);
    const read = (json: Json) => () => schemaValue(json, full);
    if (previous === undefined) return { self: read(value), ...(optionalOldSelf ? { oldSelf: NONE } : {}) };
    return { self: read(value), oldSelf: optionalOldSelf ? () => optionalValue(schemaValue(previous, full)) : read(previous) };
  },
};

function optionalValue(value: CelResult): CelResult {
  return value instanceof CelError ? value : new Optional(value);
}

/** Of a schema that is structural, so that it has no other form of items or additionalProperties. */
function celSchema(schema: JsonSchema): CelSchema {
  return schema as CelSchema;
}

function environmentOf(self: Declaration, optionalOldSelf: boolean): Environment {
  const known = environments.get(self) ?? {};
  environments.set(self, known);
  const make = (oldSelf: Declaration["type"]) =>
    createEnvironment({ variables: { self: self.type, oldSelf }, declarations: [self], sizes: self });
  return optionalOldSelf ? (known.optional ??= make(optionalOf(self.type))) : (known.plain ??= make(self.type));
}
