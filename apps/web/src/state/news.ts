// Something happened that lists should show before they look by themselves again.

import { store } from "./store";

export const news = store(0);

export function tellNews(): void {
  news.set(news.get() + 1);
}
