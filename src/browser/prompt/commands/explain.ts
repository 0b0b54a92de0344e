/** `kubectl explain`: documentation of kinds and fields from the API server's OpenAPI document. */
import type { Command } from "../command.ts";
import { parseArguments, UsageError } from "../flags.ts";
import { resourceOf } from "../resources.ts";

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

export type Schemas = Readonly<Record<string, Schema>>;

export const explain: Command = {
  name: ["explain"],
  usage: "TYPE[.FIELD[.FIELD]…]",
  summary: "Show the documentation of a kind or a field",
  async run(words, context) {
    const { positional } = parseArguments(words, {});
    const [word, ...more] = positional;
    if (word === undefined || more.length > 0)
      throw new UsageError(
        'You must specify the type of resource to explain. Use "kubectl api-resources" for a complete list of supported resources.',
      );
    const [type = "", ...path] = word.split(".");
    const { group, version, kind } = resourceOf(await context.kinds(), type);
    const document = await context.api.get<{ readonly components: { readonly schemas: Schemas } }>(
      `/openapi/v3/${group === "" ? `api/${version}` : `apis/${group}/${version}`}`,
      context.signal,
    );
    context.out(explainLines(document.components.schemas, { group, version, kind }, path).join("\n"));
  },
};

interface Named {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Pure. */
export function explainLines(schemas: Schemas, name: Named, path: readonly string[]): readonly string[] {
  const root = Object.values(schemas).find((schema) =>
    schema["x-kubernetes-group-version-kind"]?.some(
      (one) => one.group === name.group && one.version === name.version && one.kind === name.kind,
    ),
  );
  if (root === undefined) throw new UsageError(`couldn't find resource for "${name.group}/${name.version}, Kind=${name.kind}"`);
  let field: Schema = root;
  for (const step of path) {
    const next: Schema | undefined = valueOf(schemas, field).properties?.[step];
    if (next === undefined) throw new UsageError(`field "${step}" does not exist`);
    field = next;
  }
  const shown = valueOf(schemas, field);
  const description = field.description ?? shown.description ?? "<empty>";
  const last = path.at(-1);
  return [
    ...(name.group === "" ? [] : [`GROUP:      ${name.group}`]),
    `KIND:       ${name.kind}`,
    `VERSION:    ${name.version}`,
    "",
    ...(last === undefined ? [] : [`FIELD: ${last} <${typeText(field)}>`, ""]),
    "DESCRIPTION:",
    ...wrapped(description, "    "),
    "",
    ...fieldLines(schemas, shown),
  ];
}

function fieldLines(schemas: Schemas, { properties = {}, required = [] }: Schema): readonly string[] {
  const lines = Object.entries(properties).flatMap(([name, schema]) => [
    `  ${name}\t<${typeText(schema)}>${required.includes(name) ? " -required-" : ""}`,
    ...wrapped(schema.description ?? resolved(schemas, schema).description ?? "<no description>", "    "),
    "",
  ]);
  return lines.length === 0 ? [] : ["FIELDS:", ...lines];
}

/** The schema that a reference leads to. */
function resolved(schemas: Schemas, schema: Schema): Schema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return reference === undefined ? schema : (schemas[reference.slice(reference.lastIndexOf("/") + 1)] ?? schema);
}

/** The same of the items of lists and maps, which is where their fields are. */
function valueOf(schemas: Schemas, schema: Schema): Schema {
  const { items, additionalProperties, ...rest } = resolved(schemas, schema);
  if (items !== undefined) return valueOf(schemas, items);
  if (typeof additionalProperties === "object") return valueOf(schemas, additionalProperties);
  return rest;
}

function typeText(schema: Schema): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return reference.slice(reference.lastIndexOf(".") + 1);
  if (schema.items !== undefined) return `[]${typeText(schema.items)}`;
  if (typeof schema.additionalProperties === "object") return `map[string]${typeText(schema.additionalProperties)}`;
  return schema.type ?? "Object";
}

const LINE_MAX = 76;

function wrapped(text: string, indent: string): readonly string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines = [""];
    for (const word of paragraph.split(" ")) {
      const line = lines.at(-1) ?? "";
      if (line !== "" && line.length + 1 + word.length > LINE_MAX) lines.push(word);
      else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    }
    return lines.map((line) => `${indent}${line}`);
  });
}
