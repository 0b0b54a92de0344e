/** The two ways in which a webhook stops a request: it denies it, or it cannot be asked. Messages are upstream's. */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { badRequest, reasonNamed, StatusError, type StatusDetails } from "../../../api/machinery/status-error.ts";

/** The webhook gave no usable answer: its failure policy decides. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";
  /** For metrics. */
  readonly code: number;
  /** The client has disconnected, so that nothing is wrong with the webhook. */
  readonly isCanceled: boolean;

  constructor(webhook: string, why: string, { code, cause, isCanceled = false }: { code: number; cause?: unknown; isCanceled?: boolean }) {
    super(`failed calling webhook ${quoteGo(webhook)}: ${why}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isCanceled = isCanceled;
  }
}

/** The webhook denies the request. */
export class WebhookDenial extends Error {
  override readonly name = "WebhookDenial";
  readonly status: StatusError;

  constructor(webhook: string, status: JsonObject | undefined) {
    const error = denialStatus(webhook, status ?? {});
    super(error.message);
    this.status = error;
  }
}

const CODE_MIN = 400;

/** With the code, reason and details that the webhook chose; never a code of success. */
function denialStatus(webhook: string, { code, message, reason, details }: JsonObject): StatusError {
  const denied = `admission webhook ${quoteGo(webhook)} denied the request`;
  const given = typeof reason === "string" ? reason : "";
  const explanation = typeof message === "string" && message !== "" ? message : given;
  const text = explanation === "" ? `${denied} without explanation` : `${denied}: ${explanation}`;
  return new StatusError(reasonNamed(given) ?? "Unknown", text, {
    code: Math.max(typeof code === "number" ? code : 0, CODE_MIN),
    ...(given === "" ? {} : { sentReason: given }),
    ...(typeof details === "object" && details !== null ? { details: details as StatusDetails } : {}),
  });
}

export function dryRunUnsupported(webhook: string): StatusError {
  return badRequest(`admission webhook ${quoteGo(webhook)} does not support dry run`);
}
