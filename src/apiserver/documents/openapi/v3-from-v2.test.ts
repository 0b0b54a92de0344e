import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { v3FromV2 } from "./v3-from-v2.ts";

const FLUNDER = { $ref: "#/definitions/Flunder" };
const PATH = "/apis/wardle.example.com/v1/flunders";

test("operations of OpenAPI v2 become those of v3: bodies, responses, parameters and references", () => {
  const post = {
    operationId: "createFlunder",
    consumes: ["*/*"],
    produces: ["application/json", "application/yaml"],
    schemes: ["https"],
    parameters: [
      { in: "body", name: "body", required: true, schema: FLUNDER },
      { in: "query", name: "dryRun", type: "string", uniqueItems: true, description: "no write" },
    ],
    responses: { 201: { description: "Created", schema: FLUNDER }, 401: { description: "Unauthorized" } },
    "x-kubernetes-action": "post",
  };
  const parameters = [{ $ref: "#/parameters/pretty" }];

  const { paths } = v3FromV2({ paths: { [PATH]: { post, parameters } } });

  const schema = { $ref: "#/components/schemas/Flunder" };
  deepEqual(paths, {
    [PATH]: {
      post: {
        operationId: "createFlunder",
        "x-kubernetes-action": "post",
        parameters: [{ in: "query", name: "dryRun", description: "no write", schema: { type: "string", uniqueItems: true } }],
        requestBody: { content: { "*/*": { schema } } },
        responses: {
          201: { description: "Created", content: { "application/json": { schema }, "application/yaml": { schema } } },
          401: { description: "Unauthorized" },
        },
      },
      parameters: [{ $ref: "#/components/parameters/pretty" }],
    },
  });
});

test("definitions of OpenAPI v2 become schemas of v3, whose references have no siblings", () => {
  const spec = { description: "what is wanted", $ref: "#/definitions/Spec" };
  const definitions = {
    Flunder: { type: "object", properties: { spec, tags: { type: "array", items: { $ref: "#/definitions/Tag" } } } },
    Tag: { type: "string", enum: ["$ref"] },
  };

  deepEqual(v3FromV2({ info: { title: "wardle" }, definitions }), {
    openapi: "3.0.0",
    info: { title: "wardle" },
    paths: {},
    components: {
      schemas: {
        Flunder: {
          type: "object",
          properties: {
            spec: { description: "what is wanted", allOf: [{ $ref: "#/components/schemas/Spec" }] },
            tags: { type: "array", items: { $ref: "#/components/schemas/Tag" } },
          },
        },
        Tag: { type: "string", enum: ["$ref"] },
      },
    },
  });
});
