import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./screens/App";
import { applyPreferences } from "./state/prefs";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/conversation.css";
import "./styles/rows.css";
import "./styles/cards.css";
import "./styles/data.css";
import "./styles/timeline.css";

applyPreferences();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
