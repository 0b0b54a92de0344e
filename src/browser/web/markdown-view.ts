/** Renders the blocks of a lesson as elements. Text stays text: nothing of it is interpreted as HTML. */
import { h, type ComponentChildren, type JSX } from "preact";
import { fileNameOf, isCommand } from "../lessons/lesson.ts";
import type { Block, CodeBlock, Inline } from "../lessons/markdown.ts";
import type { Texts } from "./texts.ts";

export interface MarkdownProps {
  readonly blocks: readonly Block[];
  /** Data URL of a picture by its path in the document. */
  pictureOf(address: string): string | undefined;
  readonly texts: Texts;
  run(text: string): void;
  edit(file: string): void;
}

export function Markdown({ blocks, ...context }: MarkdownProps): JSX.Element {
  return h(
    "div",
    { class: "markdown" },
    blocks.map((block, index) => h(BlockView, { key: index, block, ...context })),
  );
}

type Context = Omit<MarkdownProps, "blocks">;

function BlockView({ block, ...context }: { readonly block: Block } & Context): JSX.Element {
  const inline = (of: readonly Inline[]) => of.map((one, index) => inlineView(one, index, context));
  switch (block.is) {
    case "heading":
      return h(block.level <= 2 ? "h3" : "h4", null, inline(block.of));
    case "paragraph":
      return h("p", null, inline(block.of));
    case "quote":
      return h("blockquote", null, inline(block.of));
    case "list":
      return h(
        block.isOrdered ? "ol" : "ul",
        null,
        block.items.map((item, index) => h("li", { key: index }, inline(item))),
      );
    case "table":
      return h(
        "div",
        { class: "markdown-table" },
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              block.head.map((cell, index) => h("th", { key: index, scope: "col" }, inline(cell))),
            ),
          ),
          h(
            "tbody",
            null,
            block.rows.map((row, at) =>
              h(
                "tr",
                { key: at },
                row.map((cell, index) => h("td", { key: index }, inline(cell))),
              ),
            ),
          ),
        ),
      );
    case "code":
      return h(CodeView, { block, ...context });
  }
}

function CodeView({ block: { info, text }, texts, run, edit }: { readonly block: CodeBlock } & Context): JSX.Element {
  const file = fileNameOf(info);
  return h(
    "figure",
    { class: "code" },
    file === undefined ? null : h("figcaption", null, file),
    h("pre", { tabIndex: 0 }, text),
    isCommand(info) ? h("button", { type: "button", class: "primary", onClick: () => run(text) }, texts.run) : null,
    file === undefined ? null : h("button", { type: "button", onClick: () => edit(file) }, texts.edit),
  );
}

function inlineView(inline: Inline, key: number, context: Context): ComponentChildren {
  const children = (of: readonly Inline[]) => of.map((one, index) => inlineView(one, index, context));
  switch (inline.is) {
    case "text":
      return inline.text;
    case "code":
      return h("code", { key }, inline.text);
    case "strong":
      return h("strong", { key }, children(inline.of));
    case "emphasis":
      return h("em", { key }, children(inline.of));
    case "image":
      return h("img", { key, class: "picture", alt: inline.description, src: context.pictureOf(inline.address) });
    case "link":
      // Links of the documents lead to other documents; the page has its own way to those.
      return inline.address.startsWith("https://")
        ? h("a", { key, href: inline.address, rel: "noreferrer" }, children(inline.of))
        : h("span", { key, class: "no-link" }, children(inline.of));
  }
}
