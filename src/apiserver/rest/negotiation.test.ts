import assert from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import { answerForm, type AskedFor } from "./negotiation.ts";

const JSON_TYPE = "application/json";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

const rows: readonly [who: string, accept: string | undefined, asked: AskedFor, expected: string][] = [
  ["a client without an Accept header", undefined, "object", `${JSON_TYPE} object`],
  ["curl", "*/*", "list", `${JSON_TYPE} object`],
  ["a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "object", `${JSON_TYPE} object`],
  ["kubectl get", `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`, "list", `${JSON_TYPE} Table v1`],
  ["kubectl get of one", `${TABLE},application/json`, "object", `${JSON_TYPE} Table v1`],
  ["kubectl get -w", `${TABLE},application/json`, "watch", `${JSON_TYPE} Table v1`],
  ["kubectl create", "application/json", "object", `${JSON_TYPE} object`],
  ["client-go", `${PROTOBUF},${JSON_TYPE}`, "list", `${JSON_TYPE} object`],
  ["an old client-go", `${PROTOBUF}`, "object", `${PROTOBUF} object`],
  ["a watch of client-go", `${PROTOBUF};stream=watch,${JSON_TYPE};stream=watch`, "watch", `${JSON_TYPE} object`],
  [
    "the garbage collector",
    `application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    "object",
    `${PROTOBUF} PartialObjectMetadata v1`,
  ],
  [
    "an informer of metadata",
    `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`,
    "list",
    `${JSON_TYPE} PartialObjectMetadata v1`,
  ],
  [
    "client-go's metadata client",
    `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${JSON_TYPE};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${JSON_TYPE}`,
    "list",
    `${PROTOBUF} PartialObjectMetadata v1`,
  ],
  [
    "a metadata client that prefers JSON",
    `${JSON_TYPE};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    "watch",
    `${JSON_TYPE} PartialObjectMetadata v1`,
  ],
  ["a client that accepts YAML", "application/yaml", "object", "application/yaml object"],
  ["a client that accepts HTML only", "text/html", "object", "406"],
  ["a client that accepts a table of another group", "application/json;as=Table;v=v1;g=example.com", "list", "406"],
  ["a client that accepts a table of an unknown version", "application/json;as=Table;v=v2;g=meta.k8s.io", "list", "406"],
  ["a client that accepts an unknown conversion", "application/json;as=Chart;v=v1;g=meta.k8s.io", "list", "406"],
  ["a client that accepts PartialObjectMetadata of a list", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "list", "406"],
  ["a client that accepts a YAML stream", "application/yaml", "watch", "406"],
  ["a client that accepts a table of a review", TABLE, "value", "406"],
  ["a client that accepts a table or anything", `${TABLE},*/*`, "value", `${JSON_TYPE} object`],
];

for (const [who, accept, asked, expected] of rows) {
  test(`${who} requests a ${asked} and gets ${expected}`, () => {
    let found: string;
    try {
      const { mediaType, as, metaVersion } = answerForm(accept, asked);
      found = `${mediaType} ${as}${as === "object" ? "" : ` ${metaVersion}`}`;
    } catch (error) {
      assert(isReason(error, "NotAcceptable"));
      found = "406";
    }
    assert.equal(found, expected);
  });
}
