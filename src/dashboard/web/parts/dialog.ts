/** A modal dialog: the browser keeps the focus inside and Escape closes it. */
import { h, type ComponentChildren, type JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  close(): void;
}

export function Dialog({ title, children, close }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return h("dialog", { ref: element, "aria-label": title, onClose: close }, h("h2", null, title), children);
}
