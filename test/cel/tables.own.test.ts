/**
 * Tables of expressions with type, value or error, estimated cost and actual cost. The results are those of Kubernetes 1.36.4's own
 * environment for the same expressions, variables and schemas, including every message and position.
 */
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { machineTimeZone } from "../../src/host/time-zones.ts";
import { compile } from "../../src/cel/compile.ts";
import type { Bindings, CelSchema } from "../../src/cel/contract.ts";
import { createEnvironment, type Environment } from "../../src/cel/environment.ts";
import { AUTHORIZER, authorizerValue } from "../../src/cel/library/authorizer.ts";
import { completeNow } from "../../src/cel/program/evaluation-turns.ts";
import { declareSchema } from "../../src/cel/schema/declare.ts";
import { show } from "../../src/cel/testing/show.ts";
import { showEvaluation, suspendedEverywhere } from "../../src/cel/testing/suspended.ts";
import { DYN, typeText } from "../../src/cel/types/type.ts";
import { dynValue } from "../../src/cel/values/json.ts";
import { schemaValue } from "../../src/cel/values/schema-value.ts";
import { provideTimeZones } from "../../src/cel/values/time-zones.ts";

interface Row {
  readonly expr: string;
  readonly issues?: string;
  readonly program?: string;
  readonly type?: string;
  readonly min?: string;
  readonly max?: string;
  readonly value?: string;
  readonly error?: string;
  readonly cost?: string;
}

interface Table {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly schema?: CelSchema;
  readonly patch?: boolean;
  readonly rows: readonly Row[];
}

/** At least so many rows in all tables. */
const ROWS_MIN = 1_000;
const TABLES = ["language", "schema", "syntax", "patch"];

provideTimeZones(machineTimeZone);

function readTable(name: string): Table {
  const directory = join(packageDirectory(import.meta.dirname), "test/cel");
  return JSON.parse(readFileSync(join(directory, `${name}.table.json`), "utf8")) as Table;
}

/** The authorizer that upstream was asked with: it allows "get", and fails on "fail". */
const AUTHORIZER_VALUE = authorizerValue(({ verb }) => {
  if (verb === "fail") return { allowed: false, reason: "", error: "backend down" };
  return verb === "get" ? { allowed: true, reason: "yes" } : { allowed: false, reason: "no" };
});

function prepare({ variables, schema, patch = false }: Table): { readonly environment: Environment; readonly bindings: Bindings } {
  const names = Object.keys(variables);
  if (schema === undefined) {
    const types = Object.fromEntries([...names.map((name) => [name, DYN] as const), ["authorizer", AUTHORIZER]]);
    const values = names.map((name) => [name, dynValue(variables[name])] as const);
    return {
      environment: createEnvironment({ variables: types, patchTypes: patch }),
      bindings: { ...Object.fromEntries(values), authorizer: AUTHORIZER_VALUE },
    };
  }
  const declaration = declareSchema(schema, { name: "selfType" });
  if (declaration === undefined) throw new Error("Cannot prepare the table: its schema has no type");
  return {
    environment: createEnvironment({
      variables: { self: declaration.type, oldSelf: declaration.type },
      declarations: [declaration],
      sizes: declaration,
    }),
    bindings: Object.fromEntries(names.map((name) => [name, () => schemaValue(variables[name], schema)])),
  };
}

function run(expression: string, { environment, bindings }: ReturnType<typeof prepare>): Row {
  const compilation = compile(environment, expression);
  if (!compilation.ok) return { expr: expression, [compilation.stage === "compile" ? "issues" : "program"]: compilation.message };
  const { outputType, estimatedCost } = compilation.program;
  const evaluation = completeNow(compilation.program.start(bindings));
  const { evaluation: sliced } = suspendedEverywhere(compilation.program, bindings);
  deepEqual(showEvaluation(sliced), showEvaluation(evaluation), `${expression} in slices`);
  return {
    expr: expression,
    type: typeText(outputType),
    min: String(estimatedCost.min),
    max: String(estimatedCost.max),
    ...(evaluation.ok ? { value: show(evaluation.value) } : { error: evaluation.error.message }),
    cost: String(evaluation.cost),
  };
}

for (const name of TABLES) {
  describe(`expressions of the ${name} table have upstream's types, values, errors and costs`, () => {
    const table = readTable(name);
    const prepared = prepare(table);
    for (const row of table.rows) test(row.expr === "" ? "(empty)" : row.expr, () => deepEqual(run(row.expr, prepared), row));
  });
}

test("the tables have at least as many expressions as promised", () => {
  const rows = TABLES.reduce((sum, name) => sum + readTable(name).rows.length, 0);
  equal(rows >= ROWS_MIN, true);
});
