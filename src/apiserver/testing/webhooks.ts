/** Webhooks of a test without sockets: one function per path, each called with the request of the review. */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { WebhookPost, WebhookReply, WebhookTransport } from "../framework/webhook-caller.ts";

/** The part of an AdmissionReview's request that tests look at. */
export interface ReviewedByTest {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly dryRun: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at any member without saying its type first
  readonly [member: string]: any;
}

/** Returns the `response` without its uid, or a whole reply. */
export type WebhookOfTest = (request: ReviewedByTest, post: WebhookPost) => JsonObject | WebhookReply | Promise<JsonObject | WebhookReply>;

export interface TestWebhooks extends WebhookTransport {
  /** The requests so far, with their paths. */
  readonly reviews: readonly (ReviewedByTest & { readonly path: string })[];
}

export function testWebhooks(webhooks: Readonly<Record<string, WebhookOfTest>>): TestWebhooks {
  const reviews: (ReviewedByTest & { readonly path: string })[] = [];
  return {
    reviews,
    async post(post) {
      const [path = ""] = post.path.split("?");
      const { request, apiVersion } = JSON.parse(post.body) as { readonly request: ReviewedByTest; readonly apiVersion: string };
      reviews.push({ ...request, path });
      const webhook = webhooks[path];
      if (webhook === undefined) throw new Error("dial tcp 10.0.0.9:443: connect: connection refused");
      const response = await webhook(request, post);
      if ("contentType" in response) return response as WebhookReply;
      return reviewReply({ kind: "AdmissionReview", apiVersion, response: { uid: request.uid, ...response } });
    },
  };
}

export function reviewReply(value: JsonObject): WebhookReply {
  return { code: 200, contentType: "application/json", body: new TextEncoder().encode(JSON.stringify(value)) };
}

export function allowed(patch?: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { allowed: true, ...(patch === undefined ? {} : { patch: btoa(JSON.stringify(patch)), patchType: "JSONPatch" }), ...more };
}

/** A webhook at the path of its name: for creates of ConfigMaps unless `more` says otherwise. */
export function webhookAt(name: string, more: JsonObject = {}): JsonObject {
  return {
    name: `${name}.example.com`,
    clientConfig: { url: `https://hooks.example/${name}` },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  };
}
