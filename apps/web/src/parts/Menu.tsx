// A menu behind a button. Not modal: nothing behind it has to be held still, so no style is injected into the page.

import type { LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

export interface MenuItem {
  label: string;
  icon?: LucideIcon;
  checked?: boolean;
  danger?: boolean;
  act(): void;
}

interface Props {
  trigger: ReactNode;
  items: readonly (MenuItem | null)[];
  align?: "start" | "end";
}

/** `items`: null draws a line between two groups. */
export function Menu({ trigger, items, align = "end" }: Props) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {items.map((item, index) =>
            item === null ? (
              <DropdownMenu.Separator key={index} className="menu-line" />
            ) : (
              <DropdownMenu.Item
                key={item.label}
                className={`menu-item${item.danger ? " danger" : ""}`}
                onSelect={() => item.act()}
              >
                {item.icon && <item.icon size={16} aria-hidden />}
                <span>{item.label}</span>
                {item.checked && (
                  <span className="menu-check" aria-hidden>
                    ✓
                  </span>
                )}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
