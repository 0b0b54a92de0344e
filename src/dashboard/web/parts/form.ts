/** Fields of forms with their labels. */
import { h, type JSX } from "preact";

interface Choice {
  readonly value: string;
  readonly title: string;
}

export interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly isDisabled?: boolean;
  choose(value: string): void;
}

export function Select({ label, value, choices, isDisabled = false, choose }: SelectProps): JSX.Element {
  return h(
    "label",
    { class: "field" },
    h("span", null, label),
    h(
      "select",
      {
        value,
        disabled: isDisabled,
        onChange: ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => choose(currentTarget.value),
      },
      choices.map((choice) => h("option", { key: choice.value, value: choice.value }, choice.title)),
    ),
  );
}

export interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly type?: "text" | "number" | "search";
  readonly placeholder?: string;
  /** Suggestions. */
  readonly suggested?: readonly string[];
  readonly isRequired?: boolean;
  changed(value: string): void;
}

export function TextField(props: TextFieldProps): JSX.Element {
  const { label, value, type = "text", placeholder, suggested = [], isRequired = false, changed } = props;
  const id = `suggested-${label.replace(/\W+/g, "-")}`;
  return h(
    "label",
    { class: "field" },
    h("span", null, label),
    h("input", {
      ...{ type, value, required: isRequired, autocomplete: "off", spellcheck: false },
      ...(placeholder === undefined ? {} : { placeholder }),
      ...(type === "number" ? { min: 0 } : {}),
      ...(suggested.length === 0 ? {} : { list: id }),
      onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => changed(currentTarget.value),
    }),
    suggested.length === 0
      ? null
      : h(
          "datalist",
          { id },
          suggested.map((word) => h("option", { key: word, value: word })),
        ),
  );
}

export interface CheckboxProps {
  readonly label: string;
  readonly isChecked: boolean;
  change(isChecked: boolean): void;
}

export function Checkbox({ label, isChecked, change }: CheckboxProps): JSX.Element {
  return h("label", { class: "option" }, h("input", { type: "checkbox", checked: isChecked, onChange: () => change(!isChecked) }), label);
}

export interface ButtonProps {
  readonly text: string;
  /** For screen readers, if the text is not enough. */
  readonly label?: string;
  readonly look?: "primary" | "danger";
  readonly isDisabled?: boolean;
  press(): void;
}

export function Button({ text, label, look, isDisabled = false, press }: ButtonProps): JSX.Element {
  return h("button", { type: "button", class: look, disabled: isDisabled, "aria-label": label, onClick: press }, text);
}
