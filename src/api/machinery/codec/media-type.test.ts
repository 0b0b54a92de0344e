import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BUILT_IN_TYPES,
  JSON_TYPE,
  negotiate,
  negotiateContentType,
  notAcceptable,
  parseAccept,
  parseContentType,
  PROTOBUF_TYPE,
  streamTypes,
  unsupportedMediaType,
  YAML_TYPE,
} from "./media-type.ts";

const chosen = (accept: string | undefined) => negotiate(accept, BUILT_IN_TYPES)?.mediaType;

const ROWS: readonly (readonly [accept: string | undefined, mediaType: string | undefined])[] = [
  [undefined, JSON_TYPE],
  ["", JSON_TYPE],
  ["*/*", JSON_TYPE],
  ["*", JSON_TYPE],
  ["application/*", JSON_TYPE],
  ["text/html", undefined],
  ["text/html, */*;q=0.1", JSON_TYPE],
  ["application/yaml", YAML_TYPE],
  ["application/vnd.kubernetes.protobuf,application/json", PROTOBUF_TYPE],
  ["application/json;q=0.5,application/yaml;q=0.9", YAML_TYPE],
  ["*/*,application/yaml", YAML_TYPE],
  ["application/*,application/yaml", YAML_TYPE],
  [" application/yaml ; q=1 ", YAML_TYPE],
  ["application/json;q=x,application/yaml", YAML_TYPE],
  ["json,application/yaml", YAML_TYPE],
  ["application/json/x,application/yaml", YAML_TYPE],
  ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", JSON_TYPE],
  ["application/json;as=Table;v=v1;g=meta.k8s.io", undefined],
  ["application/json;stream=watch", JSON_TYPE],
  ["application/json;stream=other", undefined],
  ["application/yaml;stream=watch", undefined],
  ["application/json;charset=utf-8", JSON_TYPE],
  [",".repeat(10_000), undefined],
];
for (const [accept, mediaType] of ROWS) {
  test(`Accept: ${accept?.slice(0, 80) ?? "(none)"} negotiates ${mediaType ?? "406"}`, () => {
    assert.equal(chosen(accept), mediaType);
  });
}

test("parameters beyond the type are returned as data, for the caller to serve", () => {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io;pretty=1;profile=nopeer,application/json";

  assert.deepEqual(
    negotiate(accept, BUILT_IN_TYPES, ({ convert }) => convert?.kind === "Table"),
    {
      mediaType: JSON_TYPE,
      pretty: true,
      convert: { kind: "Table", group: "meta.k8s.io", version: "v1" },
      profile: "nopeer",
    },
  );
  assert.deepEqual(negotiate(accept, BUILT_IN_TYPES), { mediaType: JSON_TYPE, pretty: false });
});

test("clauses of equal quality keep the client's order", () => {
  assert.deepEqual(
    parseAccept("a/b;x=1,a/b;x=2,c/d;q=0.5,a/b;x=3").map(({ parameters }) => parameters.get("x")),
    ["1", "2", "3", undefined],
  );
});

test("a Content-Type is parsed with its parameters", () => {
  const { mediaType, parameters } = parseContentType('Application/JSON; Charset="utf-8"')!;

  assert.equal(mediaType, JSON_TYPE);
  assert.deepEqual([...parameters], [["charset", "utf-8"]]);
  assert.equal(parseContentType("a b/c"), undefined);
});

test("the body type is that of the header, the first offer without one, and unknown types are rejected", () => {
  assert.equal(negotiateContentType(undefined, BUILT_IN_TYPES), JSON_TYPE);
  assert.equal(negotiateContentType("application/yaml; charset=utf-8", BUILT_IN_TYPES), YAML_TYPE);
  assert.throws(() => negotiateContentType("text/plain", BUILT_IN_TYPES), {
    reason: "UnsupportedMediaType",
    code: 415,
    message:
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  });
});

test("negotiation errors have upstream's messages", () => {
  assert.equal(
    notAcceptable(BUILT_IN_TYPES).message,
    "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  );
  assert.equal(notAcceptable(BUILT_IN_TYPES).code, 406);
  assert.equal(unsupportedMediaType([JSON_TYPE]).code, 415);
  assert.deepEqual(streamTypes(BUILT_IN_TYPES), ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"]);
});
