/** The OpenAPI 3.0 document of the test control API, generated from its routes. */
import type { Field, Fields } from "./fields.ts";
import { PROBLEM_CODES } from "../problem.ts";
import type { AnyRoute } from "./route.ts";

export function openApiDocument(routes: readonly AnyRoute[], { version, server }: { readonly version: string; readonly server: string }) {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: "3.0.3",
    info: { title: "k8ts test control", version, description: "Controls a cluster started with k8ts up --test-control, for test suites." },
    servers: [{ url: server }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "The token in the file test-control.json." } },
      schemas: { Problem: PROBLEM },
      responses: { Problem: { description: "The request was rejected.", content: json({ $ref: "#/components/schemas/Problem" }) } },
    },
  };
}

const PROBLEM = {
  type: "object",
  required: ["reason", "message", "remedy"],
  properties: {
    reason: { type: "string", enum: Object.keys(PROBLEM_CODES), description: "For programs." },
    message: { type: "string", description: "What is wrong." },
    remedy: { type: "string", description: "What to do about it." },
  },
};

function operationOf({ operation, summary, path, body, answer }: AnyRoute): object {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  return {
    operationId: operation,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: json(objectSchema(body)) } }),
    responses: {
      "200": { description: "Done.", content: json(objectSchema(answer)) },
      default: { $ref: "#/components/responses/Problem" },
    },
  };
}

function json(schema: object): object {
  return { "application/json": { schema } };
}

export function objectSchema(fields: Fields): object {
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true);
  return {
    type: "object",
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
  };
}

function fieldSchema(field: Field): object {
  const description = field.doc;
  switch (field.type) {
    case "string": {
      const { pattern, values, lengthMax } = field;
      return {
        ...{ type: "string", description },
        ...(values === undefined ? {} : { enum: values }),
        ...(pattern === undefined ? {} : { pattern: pattern.source }),
        ...(lengthMax === undefined ? {} : { maxLength: lengthMax }),
      };
    }
    case "duration":
      return { description: `${description} At most ${field.max}.`, oneOf: [{ type: "string" }, { type: "number", maximum: field.maxMs }] };
    case "integer":
    case "number":
      return { type: field.type, description, minimum: field.min, maximum: field.max };
    case "boolean":
      return { type: "boolean", description };
    case "object":
      return { description, ...objectSchema(field.fields) };
    case "list":
      return { type: "array", description, items: objectSchema(field.fields) };
  }
}
