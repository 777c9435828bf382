import React, { useState } from "react";
import { Panel } from "./panel";

/** What the list is given. — „Liste“ */
interface Props {
  title: string;
  items: readonly string[];
}

/** One entry. */
export function Entry({ label, onPick }: { label: string; onPick: (label: string) => void }) {
  return <li onClick={() => onPick(label)}>{label}</li>;
}

export const List: React.FC<Props> = ({ title, items }) => {
  const [picked, setPicked] = useState<string | null>(null);
  const pick = (label: string) => setPicked(label);
  return (
    <Panel.Frame title={title}>
      {items.map((item) => (
        <Entry key={item} label={item} onPick={pick} />
      ))}
      <p>Entry {picked}</p>
    </Panel.Frame>
  );
};

export default class App extends React.Component<Props> {
  state = { open: true };

  toggle = () => {
    this.setState({ open: !this.state.open });
  };

  render() {
    return this.state.open ? <List {...this.props} /> : null;
  }
}
