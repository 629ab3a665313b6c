package kernel

import "encoding/json"

// The contents of messages, as the messaging protocol names their fields.

type executeRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"` // default: !silent
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     *bool             `json:"stop_on_error"` // default: true
}

type executeReply struct {
	Status          string         `json:"status"`
	ExecutionCount  int            `json:"execution_count"`
	UserExpressions map[string]any `json:"user_expressions"`
	Payload         []any          `json:"payload"`
	*errorContent
}

type errorContent struct {
	Name      string   `json:"ename"`
	Message   string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// errorReply is the content of a reply to a request that cannot be served.
type errorReply struct {
	Status string `json:"status"`
	errorContent
}

type bundleContent struct {
	Data           map[string]any `json:"data"`
	Metadata       map[string]any `json:"metadata"`
	Transient      map[string]any `json:"transient,omitempty"`
	ExecutionCount int            `json:"execution_count,omitempty"`
}

type streamContent struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type statusContent struct {
	State string `json:"execution_state"`
}

type cursorRequest struct {
	Code        string `json:"code"`
	CursorPos   int    `json:"cursor_pos"` // code points
	DetailLevel int    `json:"detail_level"`
}

type completeReply struct {
	Status      string         `json:"status"`
	Matches     []string       `json:"matches"`
	CursorStart int            `json:"cursor_start"`
	CursorEnd   int            `json:"cursor_end"`
	Metadata    map[string]any `json:"metadata"`
}

type inspectReply struct {
	Status   string         `json:"status"`
	Found    bool           `json:"found"`
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}

type isCompleteReply struct {
	Status string  `json:"status"`
	Indent *string `json:"indent,omitempty"`
}

type historyRequest struct {
	Output     bool   `json:"output"`
	Raw        bool   `json:"raw"`
	AccessType string `json:"hist_access_type"`
	Session    int    `json:"session"`
	Start      int    `json:"start"`
	Stop       *int   `json:"stop"`
	N          int    `json:"n"`
	Pattern    string `json:"pattern"`
	Unique     bool   `json:"unique"`
}

type historyReply struct {
	Status  string   `json:"status"`
	History [][3]any `json:"history"` // session, line, input or [input, output]
}

type commContent struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name,omitempty"`
	Data   json.RawMessage `json:"data"`
}

type shutdownContent struct {
	Status  string `json:"status"`
	Restart bool   `json:"restart"`
}

type languageInfo struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	MimeType       string `json:"mimetype"`
	FileExtension  string `json:"file_extension"`
	PygmentsLexer  string `json:"pygments_lexer"`
	CodemirrorMode string `json:"codemirror_mode"`
	Exporter       string `json:"nbconvert_exporter"`
}

type helpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

type kernelInfoReply struct {
	Status                string       `json:"status"`
	ProtocolVersion       string       `json:"protocol_version"`
	Implementation        string       `json:"implementation"`
	ImplementationVersion string       `json:"implementation_version"`
	LanguageInfo          languageInfo `json:"language_info"`
	Banner                string       `json:"banner"`
	HelpLinks             []helpLink   `json:"help_links"`
	Debugger              bool         `json:"debugger"`
	SupportedFeatures     []string     `json:"supported_features"`
}
