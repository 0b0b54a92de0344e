/**
 * core/v1 Secret: confidential bytes by key. Required keys of each type: secret/types.ts.
 *
 * `stringData` is write-only: its texts are merged into `data` and never stored or returned. Not here: encryption at rest (the store),
 * tokens of service accounts (controllers/token).
 */
import { deepEqual } from "../../../base/deep.ts";
import type { Secret } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { element, forbidden, immutable, invalid, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { validateConfigMapKey } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { CONTENTS_MAX_BYTES, decodedLength, encodeText, IMMUTABLE, type Contents } from "./secret/contents.ts";
import { tlsWarnings } from "./secret/tls-warnings.ts";
import { validateContentsOfType } from "./secret/types.ts";

export const secrets = defineResource<Secret>({
  kind: "Secret",
  plural: "secrets",
  singular: "secret",
  scope: "Namespaced",
  served: [
    { group: "", version: "v1", schema: "io.k8s.api.core.v1.Secret", defaults: (secret: Secret) => withType(withStringData(secret)) },
  ],

  *validate(secret, previous) {
    if (previous !== undefined) yield* validateChange(secret, previous);
    yield* validateData(secret.data ?? {});
    yield* validateContentsOfType(secret);
  },

  *warnings({ type, data = {} }) {
    if (type === "kubernetes.io/tls") yield* tlsWarnings(data["tls.crt"] ?? "", data["tls.key"] ?? "");
  },

  selectableFields: { type: (secret) => secret.type ?? "" },
  columns: [
    nameColumn,
    textColumn("Type", "Secret type", (secret) => secret.type ?? ""),
    textColumn("Data", "Number of keys", (secret) => Object.keys(secret.data ?? {}).length),
    ageColumn,
  ],
});

function withType(secret: Secret): Secret {
  return (secret.type ?? "") === "" ? { ...secret, type: "Opaque" } : secret;
}

/** A text takes precedence over bytes of the same key. */
function withStringData(secret: Secret): Secret {
  if (secret.stringData === undefined) return secret;
  const { stringData, ...rest } = secret;
  const texts = Object.entries(stringData).map(([key, text]) => [key, encodeText(text)] as const);
  return texts.length === 0 ? rest : { ...rest, data: { ...secret.data, ...Object.fromEntries(texts) } };
}

/** The type is immutable: readers rely on it. */
function* validateChange(next: Secret, previous: Secret): Iterable<FieldError> {
  if (next.type !== previous.type) yield immutable("type", next.type ?? "");
  if (previous.immutable !== true) return;
  if (next.immutable !== true) yield forbidden("immutable", IMMUTABLE);
  if (!deepEqual(next.data ?? {}, previous.data ?? {})) yield forbidden("data", IMMUTABLE);
}

function* validateData(data: Contents): Iterable<FieldError> {
  let sizeBytes = 0;
  for (const [key, base64] of Object.entries(data)) {
    for (const wrong of validateConfigMapKey(key)) yield invalid(element("data", key), key, wrong);
    sizeBytes += decodedLength(base64);
  }
  if (sizeBytes > CONTENTS_MAX_BYTES) yield tooLong("data", CONTENTS_MAX_BYTES);
}
