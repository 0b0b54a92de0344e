import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { jsonPatch, reviewAdmission, reviewConversion } from "./webhook-reviews.ts";

function object(more: object = {}): KubeObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, ...more };
}

test("a patch has one operation per top-level field that differs", () => {
  const before = object({ spec: { size: 1 }, "odd/name": 1 });
  const after = object({ spec: { size: 2 }, data: {} });

  deepEqual(jsonPatch(before, after), [
    { op: "replace", path: "/spec", value: { size: 2 } },
    { op: "remove", path: "/odd~1name" },
    { op: "add", path: "/data", value: {} },
  ]);
  deepEqual(jsonPatch(before, before), []);
});

test("an admission review is answered with its uid, the patch, warnings or the message", async () => {
  const review = { request: { uid: "u", operation: "CREATE", object: object() } };
  const kinds = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

  deepEqual(await reviewAdmission(review, () => ({ allowed: true })), { ...kinds, response: { uid: "u", allowed: true } });
  deepEqual(await reviewAdmission(review, () => ({ allowed: false, message: "no", warnings: ["w"] })), {
    ...kinds,
    response: { uid: "u", allowed: false, status: { message: "no" }, warnings: ["w"] },
  });
  deepEqual(await reviewAdmission(review, () => ({ allowed: true, object: object({ spec: {} }) })), {
    ...kinds,
    response: {
      ...{ uid: "u", allowed: true, patchType: "JSONPatch" },
      patch: Buffer.from('[{"op":"add","path":"/spec","value":{}}]').toString("base64"),
    },
  });
});

test("a conversion review is answered with all objects in the requested version, or with the failure", () => {
  const review = { request: { uid: "u", desiredAPIVersion: "example.com/v2", objects: [object()] } };
  const kinds = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };

  deepEqual(
    reviewConversion(review, (one, apiVersion) => ({ ...one, apiVersion })),
    { ...kinds, response: { uid: "u", convertedObjects: [{ ...object(), apiVersion: "example.com/v2" }], result: { status: "Success" } } },
  );
  const fail = (): never => {
    throw new Error("cannot");
  };
  deepEqual(reviewConversion(review, fail), { ...kinds, response: { uid: "u", result: { status: "Failure", message: "cannot" } } });
});
