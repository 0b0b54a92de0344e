/** Shows the error of a view that cannot be rendered, instead of an empty page: an object may have any form. */
import { Component, h, type ComponentChildren, type JSX } from "preact";
import { ErrorNote } from "./notes.ts";

export class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: Error }> {
  static override getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): JSX.Element {
    const { error } = this.state;
    return error === undefined ? h("div", { class: "boundary" }, this.props.children) : h(ErrorNote, { error });
  }
}
