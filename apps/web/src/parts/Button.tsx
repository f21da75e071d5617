// Buttons of the page. Invariant: each has words for a screen reader, also where only a picture is drawn.

import type { LucideIcon } from "lucide-react";
import type { ComponentPropsWithRef } from "react";

type Kind = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps extends ComponentPropsWithRef<"button"> {
  kind?: Kind;
  icon?: LucideIcon;
}

export function Button({ kind = "plain", icon: Icon, children, className = "", ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${kind} ${className}`} {...rest}>
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentPropsWithRef<"button">, "children"> {
  icon: LucideIcon;
  label: string;
}

export function IconButton({ icon: Icon, label, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon size={18} aria-hidden />
    </button>
  );
}
