package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gradbook/gpu"
	"gradbook/session"
	"gradbook/viz/display"
)

// ResidencyMap shows who owns every byte: for each device of the session what
// is on it and what its values keep in host memory, by kind and owner.
func ResidencyMap(s session.Snapshot) display.Bundle {
	devices := s.Devices
	if len(devices) > 1 {
		devices = slices.DeleteFunc(slices.Clone(devices), func(d gpu.Snapshot) bool {
			return len(d.Rows) == 0 && d.Held == 0
		})
	}
	if len(devices) == 0 {
		return display.Text("nothing is on a device yet")
	}
	return drawMap(devices)
}

func drawMap(devices []gpu.Snapshot) display.Bundle {
	p := picture{alt: "residency map", width: mapWidth, kind: "map"}
	var texts, below []string
	var books []ownership
	for _, d := range devices {
		o := own(d)
		books = append(books, o)
		sums, owners := o.summary(), o.owners()
		texts = append(texts, o.title()+"\n\n"+sums.String()+"\n"+owners.String()+strings.Join(o.warnings(), "\n"))
		page := `<div style="margin-top:6px">` + sums.HTML() + `</div>` + small(o.warnings())
		if len(devices) > 1 {
			page = `<div style="font-weight:600;margin-top:8px">` + htmlEscape(o.title()) + `</div>` + page
		}
		if len(owners.rows) > 0 {
			page += `<details style="margin-top:4px"><summary style="font-size:12px">` + plural(int64(len(o.blocks)), "owner") + `</summary>` + owners.HTML() + `</details>`
		}
		below = append(below, page)
	}
	p.text = strings.TrimRight(strings.Join(texts, "\n\n"), "\n")
	p.svg, p.height = mapPicture(books)
	p.option = mapOption(books)
	p.more = strings.Join(below, "")
	return p.bundle()
}

// block is what one owner holds: a storage, or storages that only their number
// tells apart.
type block struct {
	name   string
	owner  gpu.Owner
	count  int
	where  gpu.Residency
	device int64 // bytes
	host   int64
	stale  bool // the device's bytes are older than the host's
}

func (b block) both() bool { return b.where == gpu.Both }

// ownership is the books of one device, ready to be drawn.
type ownership struct {
	snap   gpu.Snapshot
	blocks []block // by kind, then falling bytes; without the pool
	kinds  [numKinds]struct {
		storages           int
		device, host, both int64
	}
	device, host, both int64
}

func own(snap gpu.Snapshot) ownership {
	o := ownership{snap: snap}
	same := map[string]int{}
	for _, r := range snap.Rows {
		b := block{name: r.Owner.Name, owner: r.Owner, count: 1, where: r.Residency, device: r.DeviceBytes, host: r.HostBytes,
			stale: r.Residency == gpu.OnHost && r.DeviceBytes > 0}
		sum := &o.kinds[kindOf(r.Owner)]
		sum.storages++
		sum.device += b.device
		sum.host += b.host
		o.device += b.device
		o.host += b.host
		if b.both() {
			sum.both += b.host
			o.both += b.host
		}
		// Storages without a name, and those that share one which their maker
		// gave them, such as the batches of a loop.
		key := fmt.Sprint(r.Owner, r.Residency, b.stale)
		if i, ok := same[key]; ok {
			o.blocks[i].count++
			o.blocks[i].device += b.device
			o.blocks[i].host += b.host
			continue
		}
		same[key] = len(o.blocks)
		o.blocks = append(o.blocks, b)
	}
	slices.SortStableFunc(o.blocks, func(a, b block) int {
		if c := cmp.Compare(kindOf(a.owner), kindOf(b.owner)); c != 0 {
			return c
		}
		return cmp.Compare(max(b.device, b.host), max(a.device, a.host))
	})
	return o
}

func (b block) label() string {
	label := b.name
	switch {
	case label != "":
	case b.owner.Op != "":
		label = b.owner.Op
	default:
		label = "(unnamed)"
	}
	return times(label, b.count)
}

func times(label string, count int) string {
	if count > 1 {
		return fmt.Sprintf("%s ×%d", label, count)
	}
	return label
}

// birth is the cell in which the block's storages were made.
func (b block) birth() string {
	if b.owner.Cell == 0 {
		return ""
	}
	return fmt.Sprintf("[%d]", b.owner.Cell)
}

func (b block) place() string {
	if b.stale {
		return "host, device stale"
	}
	return fmt.Sprint(b.where)
}

func size(bytes int64) string { return fmt.Sprint(gpu.Bytes(bytes)) }

func deviceName(i gpu.Info) string {
	name := i.Backend
	if i.Index > 0 {
		name += fmt.Sprintf(":%d", i.Index)
	}
	if i.Name != "" && i.Name != i.Backend {
		name += " · " + i.Name
	}
	return name
}

func (o *ownership) title() string { return deviceName(o.snap.Info) + ": " + o.sum() }

func (o *ownership) sum() string {
	s := o.snap
	t := fmt.Sprintf("%s in use + %s pool = %s held", size(s.InUse), size(s.PoolBytes), size(s.Held))
	if s.Info.MemoryBytes > 0 {
		t += " of " + size(s.Info.MemoryBytes)
	}
	return t
}

// warnings tell when the books do not agree with the backend's own.
func (o *ownership) warnings() (notes []string) {
	if held := o.snap.Backend.BytesHeld; held != o.snap.Held {
		notes = append(notes, fmt.Sprintf("the backend holds %s, the table knows of %s", size(held), size(o.snap.Held)))
	}
	if o.device != o.snap.InUse {
		notes = append(notes, fmt.Sprintf("owners hold %s, %s are in use", size(o.device), size(o.snap.InUse)))
	}
	return notes
}

// bytesOrDash keeps a table calm where there is nothing.
func bytesOrDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return size(n)
}

func (o *ownership) summary() *table {
	t := &table{head: []string{"kind", ">storages", ">on device", ">in host memory", ">of these in both"}}
	n := 0
	for _, k := range o.kindsInUse() {
		sum := o.kinds[k]
		n += sum.storages
		t.add(k.String(), count(int64(sum.storages)), bytesOrDash(sum.device), bytesOrDash(sum.host), bytesOrDash(sum.both))
	}
	if o.snap.PoolBytes > 0 {
		t.add("pool, free for reuse", "", size(o.snap.PoolBytes), "", "")
	}
	t.foot = []string{"held", count(int64(n)), size(o.device + o.snap.PoolBytes), bytesOrDash(o.host), bytesOrDash(o.both)}
	return t
}

func (o *ownership) kindsInUse() (kinds []kind) {
	for k := range numKinds {
		if o.kinds[k].storages > 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// listedOwners are shown in the table; the rest is summed up.
const listedOwners = 40

func (o *ownership) owners() *table {
	t := &table{head: []string{"owner", "kind", ">on device", ">in host memory", "valid in", ">cell", "made by"}}
	by := slices.Clone(o.blocks)
	slices.SortStableFunc(by, func(a, b block) int { return cmp.Compare(max(b.device, b.host), max(a.device, a.host)) })
	var device, host int64
	for i, b := range by {
		if i >= listedOwners {
			device, host = device+b.device, host+b.host
			continue
		}
		name := b.name
		if name == "" {
			name = "(unnamed)"
		}
		t.add(times(name, b.count), kindOf(b.owner).String(), bytesOrDash(b.device), bytesOrDash(b.host), b.place(), b.birth(), b.owner.Op)
	}
	if rest := len(by) - listedOwners; rest > 0 {
		t.foot = []string{plural(int64(rest), "smaller owner"), "", bytesOrDash(device), bytesOrDash(host), "", "", ""}
	}
	return t
}
