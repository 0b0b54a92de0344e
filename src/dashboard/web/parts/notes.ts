/** Messages of a page: an error with its text, a wait. Errors are announced by screen readers. */
import { h, type JSX } from "preact";

export function ErrorNote({ error, retry }: { readonly error: Error; retry?(): void }): JSX.Element {
  return h(
    "p",
    { class: "note error", role: "alert" },
    error.message,
    retry === undefined ? null : h("button", { type: "button", onClick: retry }, "Try again"),
  );
}

export function Waiting({ what }: { readonly what: string }): JSX.Element {
  return h("p", { class: "note", role: "status" }, `Loading ${what} …`);
}

export function Empty({ text }: { readonly text: string }): JSX.Element {
  return h("p", { class: "note" }, text);
}
